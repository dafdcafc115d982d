import pg from "pg";

import { TABLE } from "./adapter.js";

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
await client.query(TABLE);
await client.end();
