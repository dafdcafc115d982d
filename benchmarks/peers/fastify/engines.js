// One pool of persistent connections to PostgreSQL and one connection to Redis, which pipelines by itself.
import { Redis } from 'ioredis'
import pg from 'pg'

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 8, idleTimeoutMillis: 0 })
export const redis = new Redis(process.env.REDIS_URL, { enableAutoPipelining: true })

const asText = { getTypeParser: () => (value) => value }

// A statement that each connection prepares once. Values come as PostgreSQL writes them: no date and no JSON is parsed.
export async function rows(name, text, values) {
  const answer = await pool.query({ name, text, values, rowMode: 'array', types: asText })
  return answer.rows
}
