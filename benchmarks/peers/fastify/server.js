// A plain Fastify service over the same tables: the peer of the lookups, the leaderboards and the presence of one.
//
// MODE=sql answers a lookup by one statement of JSON aggregates, MODE=document from the row that the service reads.
import fastify from 'fastify'
import { checkKey, Refusal } from './key-check.js'
import { pool } from './engines.js'
import * as document from './document.js'
import * as presence from './presence.js'
import * as sql from './one-sql.js'

const { lookup } = process.env.MODE === 'document' ? document : sql
const PLATFORM = /^[A-Za-z0-9._-]{1,32}$/
const app = fastify({ logger: false, trustProxy: false, exposeHeadRoutes: false })
const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  vary: 'X-API-Key, Authorization',
}

app.setErrorHandler((error, request, reply) => {
  const [status, code] = error instanceof Refusal ? [error.status, error.code] : [500, 'INTERNAL']
  if (status === 500) console.error(error)
  reply.code(status).headers(HEADERS).send(JSON.stringify({ error: code }))
})

app.get('/api/lookup/user', async (request, reply) => {
  await checkKey(request.headers['x-api-key'], 'lookup:user', request.headers['x-client-address'])
  const { type, value } = request.query
  if (type !== 'username' || !value || !PLATFORM.test(value)) throw new Refusal(400, 'TYPE_INVALID')
  const body = await lookup(value.toUpperCase(), request.query)
  if (body === null) throw new Refusal(404, 'USER_NOT_FOUND')
  reply.headers(HEADERS).send(body)
  return reply
})

app.post('/api/lookup/users', async (request, reply) => {
  const { type, values, ...switches } = request.body
  if (type !== 'username' || !Array.isArray(values) || values.length < 1 || values.length > 50) {
    throw new Refusal(400, 'VALUES_INVALID')
  }
  if (!values.every((value) => PLATFORM.test(value))) throw new Refusal(400, 'VALUE_INVALID')
  const cost = Math.ceil(values.length / 10)
  await checkKey(request.headers['x-api-key'], 'lookup:user', request.headers['x-client-address'], cost)
  reply.headers(HEADERS).send(await sql.lookupAll(values.map((value) => value.toUpperCase()), switches))
  return reply
})

app.get('/api/leaderboard/:board', async (request, reply) => {
  const key = request.query.key || (request.headers.authorization || '').replace(/^bearer /i, '')
  await checkKey(key, 'account', request.headers['x-client-address'])
  const limit = Number(request.query.limit || 10)
  if (!(limit >= 1 && limit <= 100)) throw new Refusal(400, 'LIMIT_INVALID')
  reply.headers(HEADERS).send(await document.leaderboard(request.params.board, limit))
  return reply
})

app.get('/api/lookup/presence/:id', async (request, reply) => {
  await checkKey(request.headers['x-api-key'], 'lookup:presence', request.headers['x-client-address'])
  const body = await presence.one(request.params.id)
  if (body === null) throw new Refusal(404, 'PRESENCE_NOT_FOUND')
  reply.headers(HEADERS).send(body)
  return reply
})

await pool.query('SELECT 1')
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
