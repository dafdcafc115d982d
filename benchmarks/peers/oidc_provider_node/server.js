// node-oidc-provider: confidential clients, S256, opaque access tokens, EdDSA id tokens, rotation at each refresh.
// STORE=memory keeps everything in the process; without it every model is read from and written to PostgreSQL.
import { generateKeyPairSync } from "node:crypto";

import pg from "pg";
import Provider from "oidc-provider";

import { memoryStore, postgresStore } from "./adapter.js";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, min: 4, max: 8 });
const store = process.env.STORE === "memory" ? await memoryStore(pool) : postgresStore(pool);
const key = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });

async function findAccount(context, id) {
  const row = await store.account(id);
  if (row === undefined) return undefined;
  const { username, name, email, email_verified } = row;
  return {
    accountId: id,
    claims: async () => ({ sub: id, name, preferred_username: username, email, email_verified }),
  };
}

const provider = new Provider(`http://127.0.0.1:${process.env.PORT}`, {
  adapter: store.adapter,
  findAccount,
  jwks: { keys: [{ ...key, kid: "benchmark", alg: "EdDSA", use: "sig" }] },
  cookies: { keys: ["a-secret-of-the-benchmark-alone"] },
  clientDefaults: { id_token_signed_response_alg: "EdDSA" },
  enabledJWA: { idTokenSigningAlgValues: ["EdDSA"] },
  claims: { openid: ["sub"], identify: ["name", "preferred_username"], email: ["email", "email_verified"] },
  scopes: ["openid", "identify", "email", "offline_access"],
  conformIdTokenClaims: false, // the id_token carries the claims of its scopes, as ours does
  features: {
    devInteractions: { enabled: false },
    introspection: { enabled: true },
    revocation: { enabled: true },
    userinfo: { enabled: true },
  },
  pkce: { required: () => true },
  rotateRefreshToken: () => true,
  ttl: { AccessToken: 3600, AuthorizationCode: 600, IdToken: 36000, RefreshToken: 30 * 86400, Grant: 30 * 86400 },
});
provider.listen(Number(process.env.PORT), "127.0.0.1");
