// The presence of one member, from the same records in Redis as the service reads, in one trip.
import { redis } from './engines.js'
import { ASSETS } from './forms.js'

const CDN = 'https://cdn.discordapp.com'
const GUILD = process.env.CHAT_GUILD_ID
const PLAYERS = new Set(['Spotify'])
const HASH = /^[A-Za-z0-9_]{1,100}$/
const SNOWFLAKE = /^[0-9]{1,20}$/
const COLLECTIBLE = /^(?:[A-Za-z0-9_-]{1,64}\/){1,8}$/
const MEDIA_PATH = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9._~%!$&()*+,;=:@/-]+)?(?:\?[A-Za-z0-9._~%!$&()*+,;=:@/?-]*)?$/
const SERVICES = {
  spotify: [/^[A-Za-z0-9]{1,64}$/, (name) => `https://i.scdn.co/image/${name}`],
  twitch: [/^[A-Za-z0-9_]{1,64}$/, (name) => `https://static-cdn.jtvnw.net/previews-ttv/live_user_${name}-640x360.jpg`],
  youtube: [/^[A-Za-z0-9_-]{1,64}$/, (name) => `https://i.ytimg.com/vi/${name}/hqdefault.jpg`],
}
const BADGES = { premium: 'Premium', staff: 'Staff', partner: 'Partner', moderator: 'Moderator', events: 'Event Host',
  bravery: 'Bravery', brilliance: 'Brilliance', balance: 'Balance', bughunter1: 'Bug Hunter',
  bughunter2: 'Bug Hunter, Level 2', developer: 'Developer', earlysupporter: 'Early Supporter',
  boosted: 'Server Booster', legacy: 'Legacy Username', quest: 'Quest Completed', leaf: 'Leaf', orb: 'Orb', gifting: 'Gifting' }
const BITS = { 0: 'staff', 1: 'partner', 2: 'events', 3: 'bughunter1', 6: 'bravery', 7: 'brilliance', 8: 'balance',
  9: 'earlysupporter', 14: 'bughunter2', 17: 'developer', 18: 'moderator' }
const BADGE_KEYS = Object.keys(BADGES)
const FLAGS = Object.entries(BITS)

// The object in a value, whatever its cache wrote around it.
function object(value) {
  if (!value) return null
  const start = value.indexOf('{"')
  return start < 0 ? null : JSON.parse(value.latin1Slice(start, value.lastIndexOf(125) + 1))
}

const text = (value) => (typeof value === 'string' && value ? value.toWellFormed() : null)
const hash = (value) => (typeof value === 'string' && HASH.test(value) ? value : null)
const snowflake = (value) => (SNOWFLAKE.test(value) ? String(value) : null)

function hashed(path, value) {
  const known = hash(value)
  return known && `${CDN}/${path}/${known}.${known.startsWith('a_') ? 'gif' : 'png'}`
}

function avatar(id, user) {
  const own = hashed(`avatars/${id}`, user.avatar)
  if (own) return own
  const old = Number(snowflake(user.discriminator) || 0)
  return `${CDN}/embed/avatars/${old ? old % 5 : Number((BigInt(id) >> 22n) % 6n)}.png`
}

function decoration(owner) {
  const asset = hash(owner.avatar_decoration_data?.asset)
  return asset && `${CDN}/avatar-decoration-presets/${asset}.png`
}

function nameplate(owner) {
  const asset = owner.collectibles?.nameplate?.asset
  return typeof asset === 'string' && COLLECTIBLE.test(asset) ? `${CDN}/assets/collectibles/${asset}asset.webm` : null
}

function image(asset, application) {
  if (typeof asset !== 'string') return null
  const at = asset.indexOf(':')
  if (at < 0) {
    const [owner, picture] = [snowflake(application), snowflake(asset)]
    return owner && picture ? `${CDN}/app-assets/${owner}/${picture}.png` : null
  }
  const [prefix, name] = [asset.slice(0, at), asset.slice(at + 1)]
  if (prefix === 'mp') return MEDIA_PATH.test(name) ? `https://media.discordapp.net/${name}` : null
  const service = SERVICES[prefix]
  return service && service[0].test(name) ? service[1](name) : null
}

function emoji(raw) {
  if (!raw) return null
  if (raw.id !== null && raw.id !== undefined) {
    const id = snowflake(raw.id)
    return id && `${CDN}/emojis/${id}.${raw.animated === true ? 'gif' : 'png'}`
  }
  const character = text(raw.name)
  return character && [...character].length <= 64 ? character : null
}

function activity(raw) {
  const type = Number.isInteger(raw.type) ? raw.type : 0
  const pictures = raw.assets || {}
  return {
    name: type === 4 ? '' : text(raw.name) || '',
    type,
    state: text(raw.state),
    details: type === 4 ? null : text(raw.details),
    tooltip: text(pictures.large_text) || text(pictures.small_text),
    emoji: emoji(raw.emoji),
    image: image(pictures.large_image, raw.application_id) || image(pictures.small_image, raw.application_id),
  }
}

const isPlayer = (raw) => raw.type === 2 && (raw.id === 'spotify:1' || text(raw.sync_id) || PLAYERS.has(raw.name))

// The place of the activity that is worth showing; -1 for none.
function chosen(running, shown) {
  const player = running.findIndex(isPlayer)
  if (player >= 0) return player
  const played = shown.findIndex(({ type }) => type === 0 || type === 1 || type === 3)
  if (played >= 0) return played
  const heard = shown.findIndex(({ type }) => type === 2)
  return heard >= 0 ? heard : shown.findIndex(({ type }) => type === 4)
}

const known = (status) => (['online', 'idle', 'dnd', 'offline'].includes(status) ? status : null)
const isOn = (status) => known(status) && status !== 'offline'

function status(presence, running) {
  if (running.some(({ type }) => type === 1)) return 'streaming'
  const devices = presence.client_status
  const summary = known(presence.status)
  if (!devices) return summary || 'offline'
  const shown = ['desktop', 'mobile', 'web'].find((device) => isOn(devices[device]))
  if (shown) return devices[shown]
  const other = ['vr', 'embedded'].find((device) => isOn(devices[device]))
  return other ? summary || devices[other] : 'offline'
}

function badges(member) {
  const flags = member.user.public_flags || 0
  const held = new Set(FLAGS.filter(([bit]) => (flags >> bit) & 1).map(([, key]) => key))
  if (text(member.premium_since)) held.add('boosted')
  const found = {}
  for (const key of BADGE_KEYS) {
    if (held.has(key)) found[key] = { name: BADGES[key], url: `${ASSETS}/badges/chat/${key}.svg` }
  }
  return found
}

function clan(guild) {
  if (!guild || guild.identity_enabled !== true) return null
  const [tag, id, badge] = [text(guild.tag), snowflake(guild.identity_guild_id), hash(guild.badge)]
  return tag && id && badge ? { tag, badge: `${CDN}/guild-tag-badges/${id}/${badge}.png` } : null
}

export async function one(id) {
  const names = ['alive', 'complete', `m:${id}`, `banner:${id}`, `profile:${id}`, `miss:${id}`, `privacy:${id}`]
  const [alive, complete, record, banner, , , privacy] = await redis.mgetBuffer(names.map((name) => `chat:1:${name}`))
  const [stamp, found] = [object(alive), object(record)]
  if (!stamp || !found || Math.abs(Date.now() / 1000 - stamp.at) >= 60 || found.g < Number(complete)) return null
  if (privacy ? Number(privacy) === 1 : found.x === true) return null
  const member = found.m
  const { user } = member
  const presence = found.p || {}
  const running = presence.activities || []
  const shown = running.map(activity)
  const place = chosen(running, shown)
  const state = status(presence, running)
  const told = banner ? object(banner).hash : user.banner
  return JSON.stringify({
    id,
    username: text(user.username) || '',
    globalName: text(user.global_name) || user.username,
    serverNick: text(member.nick),
    avatar: avatar(id, user),
    serverAvatar: hashed(`guilds/${GUILD}/users/${id}/avatars`, member.avatar),
    serverBanner: hashed(`guilds/${GUILD}/users/${id}/banners`, member.banner),
    banner: hashed(`banners/${id}`, told),
    decoration: decoration(member) || decoration(user),
    nameplate: nameplate(member) || nameplate(user),
    biography: null,
    activity: place >= 0 ? shown[place] : null,
    activities: shown,
    badges: badges(member),
    status: { status: state, url: `${ASSETS}/status/${state}.png` },
    last_online: found.l ?? null,
    clan: clan(user.primary_guild),
  })
}
