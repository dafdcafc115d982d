// The key and both limits in one script and one trip, as the service does it; a key's record is cached for a minute.
import { createHash } from 'node:crypto'
import { redis, rows } from './engines.js'

export class Refusal extends Error {
  constructor(status, code) {
    super(code)
    this.status = status
    this.code = code
  }
}

const SCRIPT = `
local function count(window, most, cost)
  if tonumber(redis.call('GET', window) or '0') + cost > most then return false end
  return true
end
local text = redis.call('GET', KEYS[3])
if not count(KEYS[1], tonumber(ARGV[1]), 1) then return 'ADDRESS_LIMITED' end
if not text then
  text = ARGV[3]
  if text == '' then return 'MISS' end
  redis.call('SET', KEYS[3], text, 'PX', 60000)
end
local ends, most, permissions = string.match(text, '^(%d+) (%d+) (.*)$')
local said = 'OK'
if tonumber(ends) <= tonumber(ARGV[4]) then said = 'EXPIRED'
elseif not string.find(permissions, ' ' .. ARGV[2] .. ' ', 1, true) then said = 'NOT_PERMITTED'
elseif not count(KEYS[2], tonumber(most), tonumber(ARGV[5])) then return 'KEY_LIMITED' end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], 60000) end
if said == 'OK' and redis.call('INCRBY', KEYS[2], ARGV[5]) == tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[2], 60000) end
return said
`
const RECORD = `
  SELECT coalesce(extract(epoch FROM k.expires_at)::bigint, 9007199254740991) || ' '
    || CASE WHEN u.plan IN ('PREMIUM', 'IMAGEHOST') AND (u.plan_expires_at IS NULL OR u.plan_expires_at > now())
        THEN 60 ELSE 30 END
    || ' ' || (SELECT ' ' || string_agg(value, ' ') || ' ' FROM jsonb_array_elements_text(k.permissions))
  FROM accounts_apikey k JOIN accounts_user u ON u.id = k.owner_id AND u.is_active
  WHERE k.secret_hash = $1 AND k.revoked_at IS NULL AND k.is_enabled
`
const STATUS = { ADDRESS_LIMITED: 429, KEY_LIMITED: 429, EXPIRED: 401, NOT_PERMITTED: 403 }

redis.defineCommand('checkKey', { numberOfKeys: 3, lua: SCRIPT })

export async function checkKey(secret, permission, address, cost = 1) {
  if (!address) throw new Refusal(403, 'FORBIDDEN')
  if (!secret) throw new Refusal(401, 'MISSING_API_KEY')
  const hash = createHash('sha256').update(secret).digest('hex')
  const keys = [`{limit}:peer:api:${address}`, `{limit}:peer:key:${hash}`, `{limit}:peer:record-1:${hash}`]
  const now = Math.floor(Date.now() / 1000)
  let said = await redis.checkKey(...keys, 60, permission, '', now, cost)
  if (said === 'MISS') {
    const [row] = await rows('key', RECORD, [hash])
    if (!row) throw new Refusal(401, 'INVALID_API_KEY')
    said = await redis.checkKey(...keys, 60, permission, row[0], now, cost)
  }
  if (said !== 'OK') throw new Refusal(STATUS[said], said)
}
