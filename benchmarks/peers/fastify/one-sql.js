// A lookup by one statement of JSON aggregates. Each set of includes is a prepared statement of its own.
import fs from 'node:fs'
import { rows } from './engines.js'
import { asset, ASSETS, avatarUrl, BASE_URL, iso, list } from './forms.js'
import { gallery, sections } from './sections.js'

const FILES = { avatar: 'avatar', banner: 'banner', cursor: 'cursor', cursorPointer: 'cursor_pointer',
  fontAsset: 'font_asset', fontUsernameAsset: 'font_username_asset', soundEffectAsset: 'sound_effect_asset',
  soundEffectButtonAsset: 'sound_effect_button_asset', metadataFavicon: 'metadata_favicon',
  metadataBanner: 'metadata_banner' }
const MIRRORED = `json_build_object('url', '${BASE_URL}/api/chat/avatar/' || u.id, 'mime', 'image/png', 'width', null,
  'height', null, 'duration', null)`
const file = ([name, column]) => `'${name}', ` + (name === 'avatar'
  ? `CASE WHEN (p.settings -> 'avatarSettings' ->> 'mirrorChat')::boolean THEN ${MIRRORED} ELSE ${asset('p.avatar_id')} END`
  : asset(`p.${column}_id`))

const profile = `json_build_object('profileId', p.id, 'name', p.name, 'displayName', p.display_name,
  'description', p.description, 'location', p.location, 'theme', p.theme, 'font', p.font,
  'fontUsername', p.font_username, 'soundEffect', p.sound_effect, 'soundEffectButton', p.sound_effect_button,
  'createdAt', ${iso('p.created_at')}, 'updatedAt', ${iso('p.updated_at')}, ${Object.entries(FILES).map(file).join(', ')})`

const tiers = list(
  `json_build_object('tier', t.tier, 'threshold', t.threshold, 'title', t.title, 'description', t.description,
    'color', t.color, 'unlocked', h.unlocked_tiers @> to_jsonb(t.tier), 'selected', t.tier IS NOT DISTINCT FROM h.selected_tier,
    'imageUrl', '${ASSETS}/badges/' || b.catalog || '/' || t.image)`,
  't.tier', 'lookup_badgetier t WHERE t.badge_id = b.id')
const badges = list('shown.form', 'shown."order", shown.id', `(
  SELECT h.id, h."order", json_build_object('id', h.id, 'type', 'STANDARD', 'badgeId', h.badge_id, 'enabled', h.is_enabled,
    'selectedTier', h.selected_tier, 'unlockedTiers', h.unlocked_tiers, 'color', nullif(h.color, ''),
    'recolor', h.recolor, 'name', nullif(b.name, ''), 'order', h."order", 'image', null,
    'imageUrl', '${ASSETS}/badges/' || b.catalog || '/' || b.image, 'iconSvg', null, 'tiers', ${tiers}) AS form
  FROM lookup_profilebadge h JOIN lookup_badge b ON b.id = h.badge_id WHERE h.profile_id = p.id
  UNION ALL
  SELECT c.id, c."order", json_build_object('id', c.id, 'type', 'CUSTOM', 'badgeId', null, 'enabled', c.is_enabled,
    'selectedTier', null, 'unlockedTiers', '[]'::json, 'color', nullif(c.color, ''), 'recolor', c.recolor,
    'name', nullif(c.name, ''), 'order', c."order", 'image', ${asset('c.image_id')}, 'imageUrl', null,
    'iconSvg', nullif(c.icon_svg, ''), 'tiers', '[]'::json)
  FROM lookup_custombadge c WHERE c.profile_id = p.id) shown`)

const of = (table, form, more = '') => list(`json_build_object(${form})`, 'c."order", c.id',
  `lookup_${table} c WHERE c.profile_id = p.id${more}`)

const comments = `json_build_object('count', f.comments, 'items', (
  SELECT coalesce(json_agg(json_build_object('id', c.id, 'content', c.content, 'likeCount', c.like_count,
    'replyCount', c.reply_count, 'pinned', c.is_pinned, 'createdAt', ${iso('c.created_at')},
    'author', json_build_object('id', a.id, 'username', a.username, 'name', a.display_name,
      'avatarUrl', ${avatarUrl('a', 'ap', "''")}, 'uid', a.uid))
    ORDER BY c.is_pinned DESC, c.created_at DESC, c.id), '[]')
  FROM (SELECT c.* FROM lookup_comment c JOIN accounts_user w ON w.id = c.author_id AND w.is_active
    WHERE c.user_id = u.id AND c.parent_id IS NULL
    ORDER BY c.is_pinned DESC, c.created_at DESC, c.id LIMIT 100) c
  JOIN accounts_user a ON a.id = c.author_id
  JOIN lookup_profile ap ON ap.user_id = a.id AND ap.is_main))`

const INCLUDES = {
  profile,
  badges,
  widgets: of('widget', `'id', c.id, 'platform', c.platform, 'type', c.type, 'identifier', c.identifier, 'order', c."order"`),
  audios: of('audio', `'id', c.id, 'title', c.title, 'artist', c.artist, 'externalUrl', c.external_url, 'order', c."order",
    'audio', ${asset('c.audio_id')}, 'cover', ${asset('c.cover_id')}`, ' AND c.is_active'),
  backgrounds: of('background', `'id', c.id, 'title', c.title, 'order', c."order", 'asset', ${asset('c.asset_id')}`,
    ' AND c.is_active'),
  links: of('link', `'id', c.id, 'title', c.title, 'url', c.url, 'platformId', nullif(c.platform_id, ''),
    'platformType', nullif(c.platform_type, ''), 'isText', c.is_text, 'recolor', c.recolor, 'color', nullif(c.color, ''),
    'order', c."order", 'icon', ${asset('c.icon_id')}, 'iconSvg', nullif(c.icon_svg, '')`, ' AND c.is_active'),
  projects: of('project', `'id', c.id, 'title', c.title, 'description', c.description, 'url', c.url, 'tags', c.tags,
    'order', c."order", 'icon', ${asset('c.icon_id')}`),
  views: 'f.views',
  aliases: list(`json_build_object('name', an.name, 'redirect', al.redirects, 'profileId', al.profile_id)`,
    'al.created_at, al.name_id',
    `lookup_alias al JOIN accounts_name an ON an.key = al.name_id WHERE an.user_id = u.id AND an.kind = 'ALIAS'`),
  gallery,
  sections,
  feedback: `json_build_object('likes', f.likes, 'dislikes', f.dislikes)`,
  comments,
}

const PLAN = `CASE WHEN u.plan_expires_at IS NULL OR u.plan_expires_at > now() THEN u.plan ELSE 'FREE' END`
const USER = `json_build_object('id', u.id, 'uid', u.uid, 'username', u.username, 'name', nullif(u.display_name, ''),
  'avatarUrl', ${avatarUrl('u', 'p', 'null')}, 'chatId', chat.external_id, 'scrobblerUsername', scrobbler.name,
  'premium', ${PLAN} IN ('PREMIUM', 'IMAGEHOST'), 'verified', u.is_verified, 'imagehost', ${PLAN} = 'IMAGEHOST',
  'inactive', u.is_inactive, 'createdAt', ${iso('u.created_at')})`

function statement(includes, condition) {
  const columns = includes.map((name) => `${INCLUDES[name]}::text`)
  if (includes.includes('profile')) columns.push(`p.settings::text`)
  return `SELECT ${['n.key', `${USER}::text`, ...columns].join(', ')}
    FROM accounts_name n
    JOIN accounts_user u ON u.id = n.user_id AND u.is_active AND u.public_api_access
    JOIN lookup_profile p ON p.user_id = u.id AND p.is_main
    JOIN lookup_userdocument f ON f.user_id = u.id
    LEFT JOIN accounts_linkedaccount chat ON chat.user_id = u.id AND chat.kind = 'CHAT'
    LEFT JOIN accounts_linkedaccount scrobbler ON scrobbler.user_id = u.id AND scrobbler.kind = 'SCROBBLER'
    WHERE ${condition}`
}

const DEFAULTS = JSON.parse(fs.readFileSync(process.env.SETTINGS_FILE))
const UNTOUCHED = JSON.stringify(DEFAULTS)

// All settings: those that are stored over the defaults.
function settings(stored) {
  if (stored === '{}') return UNTOUCHED
  const changed = JSON.parse(stored)
  const filled = { ...DEFAULTS }
  for (const name in changed) filled[name] = { ...DEFAULTS[name], ...changed[name] }
  return JSON.stringify(filled)
}

const names = Object.keys(INCLUDES)
const statements = new Map()

// The rows of one set of includes.
async function read(condition, value, includes) {
  const id = `lookup ${condition} ${includes.join(' ')}`
  let text = statements.get(id)
  if (!text) statements.set(id, (text = statement(includes, condition)))
  return rows(id, text, [value])
}

function answer(row, includes) {
  let body = `{"error":null,"user":${row[1]}`
  includes.forEach((name, i) => {
    const value = row[i + 2]
    body += `,"${name}":` + (name === 'profile' ? `${value.slice(0, -1)},"settings":${settings(row.at(-1))}}` : value)
  })
  return body + '}'
}

export async function lookup(key, query) {
  const includes = names.filter((name) => query[name] === 'true')
  const [row] = await read('n.key = $1', key, includes)
  return row ? answer(row, includes) : null
}

// Several users by one statement, in the order asked.
export async function lookupAll(keys, switches) {
  const includes = names.filter((name) => switches[name] === true)
  const found = new Map()
  for (const row of await read('n.key = ANY($1)', keys, includes)) found.set(row[0], answer(row, includes))
  const results = keys.map((key) => found.get(key) || '{"error":"User not found."}')
  return `{"error":null,"results":[${results.join(',')}]}`
}
