// Makes the tables and the signing key of Better Auth.
import { getMigrations } from "better-auth/db/migration";

import { auth, pool } from "./auth.js";

const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
await auth.api.getJwks();
await pool.end();
