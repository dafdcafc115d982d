// Stores of oidc-provider's models: one table of PostgreSQL with prepared statements, and the same in memory.
const now = () => Math.floor(Date.now() / 1000);

export const TABLE = `
  CREATE TABLE oidc_model (
    kind text NOT NULL,
    id text NOT NULL,
    payload jsonb NOT NULL,
    grant_id text,
    uid text,
    user_code text,
    expires_at timestamptz,
    consumed_at timestamptz,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX oidc_model_grant ON oidc_model (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX oidc_model_uid ON oidc_model (uid) WHERE uid IS NOT NULL;
  CREATE INDEX oidc_model_user_code ON oidc_model (user_code) WHERE user_code IS NOT NULL;
  CREATE INDEX oidc_model_expires ON oidc_model (expires_at);
  CREATE TABLE account (
    id text PRIMARY KEY,
    is_active boolean NOT NULL,
    username text NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    email_verified boolean NOT NULL
  );
`;
const COLUMNS = "payload, consumed_at IS NOT NULL AS is_consumed FROM oidc_model WHERE kind = $1 AND";
const LIVE = "AND (expires_at IS NULL OR expires_at > now())";
const STATEMENTS = {
  upsert: `
    INSERT INTO oidc_model (kind, id, payload, grant_id, uid, user_code, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7))
    ON CONFLICT (kind, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
      user_code = excluded.user_code, expires_at = excluded.expires_at`,
  find: `SELECT ${COLUMNS} id = $2 ${LIVE}`,
  findByUid: `SELECT ${COLUMNS} uid = $2 ${LIVE}`,
  findByUserCode: `SELECT ${COLUMNS} user_code = $2 ${LIVE}`,
  consume: "UPDATE oidc_model SET consumed_at = now() WHERE kind = $1 AND id = $2",
  destroy: "DELETE FROM oidc_model WHERE kind = $1 AND id = $2",
  revokeByGrantId: "DELETE FROM oidc_model WHERE grant_id = $1",
  account: "SELECT * FROM account WHERE id = $1 AND is_active",
};

// Node's pg prepares a statement that has a name once a connection.
const run = (pool, name, values) => pool.query({ name, text: STATEMENTS[name], values });

export function postgresStore(pool) {
  return {
    adapter: (kind) => new PostgresAdapter(pool, kind),
    account: async (id) => (await run(pool, "account", [id])).rows[0],
  };
}

class PostgresAdapter {
  constructor(pool, kind) {
    this.pool = pool;
    this.kind = kind;
  }

  async upsert(id, payload, expiresIn) {
    const expires = expiresIn ? now() + expiresIn : null;
    const keys = [payload.grantId ?? null, payload.uid ?? null, payload.userCode ?? null];
    await run(this.pool, "upsert", [this.kind, id, JSON.stringify(payload), ...keys, expires]);
  }

  async one(statement, key) {
    const row = (await run(this.pool, statement, [this.kind, key])).rows[0];
    if (row === undefined) return undefined;
    return row.is_consumed ? { ...row.payload, consumed: true } : row.payload;
  }

  find(id) {
    return this.one("find", id);
  }

  findByUid(uid) {
    return this.one("findByUid", uid);
  }

  findByUserCode(userCode) {
    return this.one("findByUserCode", userCode);
  }

  async consume(id) {
    await run(this.pool, "consume", [this.kind, id]);
  }

  async destroy(id) {
    await run(this.pool, "destroy", [this.kind, id]);
  }

  async revokeByGrantId(grantId) {
    await run(this.pool, "revokeByGrantId", [grantId]);
  }
}

// Reads the tables once, as they are when the server starts, and nothing of them again.
export async function memoryStore(pool) {
  const models = new Map();
  const grants = new Map();
  const accounts = new Map();
  const adapter = (kind) => new MemoryAdapter(models, grants, kind);
  for (const row of (await pool.query("SELECT * FROM account WHERE is_active")).rows) accounts.set(row.id, row);
  for (const { kind, id, payload } of (await pool.query("SELECT kind, id, payload FROM oidc_model")).rows) {
    await adapter(kind).upsert(id, payload);
  }
  await pool.end();
  return { adapter, account: async (id) => accounts.get(id) };
}

class MemoryAdapter {
  constructor(models, grants, kind) {
    this.models = models;
    this.grants = grants;
    this.kind = kind;
  }

  key(id) {
    return `${this.kind}:${id}`;
  }

  async upsert(id, payload) {
    const key = this.key(id);
    this.models.set(key, payload);
    if (payload.uid) this.models.set(`uid:${payload.uid}`, payload);
    if (payload.userCode) this.models.set(`userCode:${payload.userCode}`, payload);
    if (!payload.grantId) return;
    if (!this.grants.has(payload.grantId)) this.grants.set(payload.grantId, new Set());
    this.grants.get(payload.grantId).add(key);
  }

  async find(id) {
    return this.models.get(this.key(id));
  }

  async findByUid(uid) {
    return this.models.get(`uid:${uid}`);
  }

  async findByUserCode(userCode) {
    return this.models.get(`userCode:${userCode}`);
  }

  async consume(id) {
    const payload = await this.find(id);
    if (payload) payload.consumed = now();
  }

  async destroy(id) {
    this.models.delete(this.key(id));
  }

  async revokeByGrantId(grantId) {
    for (const key of this.grants.get(grantId) ?? []) this.models.delete(key);
    this.grants.delete(grantId);
  }
}
