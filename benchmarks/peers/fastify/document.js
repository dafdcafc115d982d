// A lookup and a leaderboard from the read model: the statements of lookup/rows.py.
import { rows } from './engines.js'
import { BASE_URL, UPLOADS } from './forms.js'

const COLUMNS = { profile: 'd.profile_text', badges: 'd.badges', widgets: 'd.widgets', audios: 'd.audios',
  backgrounds: 'd.backgrounds', links: 'd.links', projects: 'd.projects', aliases: 'f.aliases', gallery: 'd.gallery',
  sections: 'd.sections' }
const names = ['profile', 'badges', 'widgets', 'audios', 'backgrounds', 'links', 'projects', 'views', 'aliases',
  'gallery', 'sections', 'feedback', 'comments']
const TIMES = `extract(epoch FROM u.plan_expires_at)::bigint, (extract(epoch FROM u.created_at) * 1000)::bigint`
const USER = `
  SELECT u.id, u.uid, u.username, u.display_name, u.plan, u.is_verified, u.is_inactive, ${TIMES}, chat.external_id,
    scrobbler.name, d.avatar_path, d.mirrors_chat, f.views, f.likes, f.dislikes, f.comments`
const FROM = `
  FROM accounts_name n JOIN accounts_user u ON u.id = n.user_id AND u.is_active AND u.public_api_access
  JOIN lookup_userdocument f ON f.user_id = u.id
  JOIN lookup_profiledocument d ON d.profile_id = f.profile_id
  LEFT JOIN accounts_linkedaccount chat ON chat.user_id = u.id AND chat.kind = 'CHAT'
  LEFT JOIN accounts_linkedaccount scrobbler ON scrobbler.user_id = u.id AND scrobbler.kind = 'SCROBBLER'
  WHERE n.key = $1`
const COMMENTS = `
  SELECT c.id, c.content, c.like_count, c.reply_count, c.is_pinned, (extract(epoch FROM c.created_at) * 1000)::bigint,
    u.id, u.uid, u.username, u.display_name, d.avatar_path, d.mirrors_chat
  FROM lookup_comment c JOIN accounts_user u ON u.id = c.author_id AND u.is_active
  JOIN lookup_userdocument f ON f.user_id = u.id JOIN lookup_profiledocument d ON d.profile_id = f.profile_id
  WHERE c.user_id = $1 AND c.parent_id IS NULL
  ORDER BY c.is_pinned DESC, c.created_at DESC, c.id LIMIT 100`
const BOARD = `
  SELECT e.score, e.change, u.uid, u.username, u.display_name, chat.external_id, u.is_verified,
    extract(epoch FROM u.created_at)::bigint, f.views, d.leaderboard
  FROM lookup_leaderboardentry e JOIN accounts_user u ON u.id = e.user_id AND u.is_active AND u.public_api_access
  JOIN lookup_userdocument f ON f.user_id = u.id JOIN lookup_profiledocument d ON d.profile_id = f.profile_id
  LEFT JOIN accounts_linkedaccount chat ON chat.user_id = u.id AND chat.kind = 'CHAT'
  WHERE e.board = $1 ORDER BY e.rank LIMIT $2`

function iso(milliseconds) {
  const text = new Date(Number(milliseconds)).toISOString()
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text
}

function avatar(id, path, mirrors, otherwise) {
  if (mirrors === 't') return `${BASE_URL}/api/chat/avatar/${id}`
  return path ? `${UPLOADS}/${path}` : otherwise
}

function head(row) {
  const [id, uid, username, name, plan, verified, inactive, endsAt, createdAt, chatId, scrobbler, path, mirrors] = row
  const current = endsAt !== null && Number(endsAt) * 1000 <= Date.now() ? 'FREE' : plan
  return JSON.stringify({ id, uid: Number(uid), username, name: name || null, avatarUrl: avatar(id, path, mirrors, null),
    chatId, scrobblerUsername: scrobbler, premium: current !== 'FREE', verified: verified === 't',
    imagehost: current === 'IMAGEHOST', inactive: inactive === 't', createdAt: iso(createdAt) })
}

async function comments(userId, count) {
  const found = await rows('comments', COMMENTS, [userId])
  const items = found.map(([id, content, likes, replies, pinned, createdAt, author, uid, username, name, path, mirrors]) => ({
    id, content, likeCount: Number(likes), replyCount: Number(replies), pinned: pinned === 't', createdAt: iso(createdAt),
    author: { id: author, username, name, avatarUrl: avatar(author, path, mirrors, ''), uid: Number(uid) } }))
  return JSON.stringify({ count: Number(count), items })
}

const statements = new Map()

export async function lookup(key, query) {
  const includes = names.filter((name) => query[name] === 'true')
  const id = `lookup ${includes.join(' ')}`
  let text = statements.get(id)
  if (!text) {
    const columns = includes.map((name) => (COLUMNS[name] ? `, ${COLUMNS[name]}` : '')).join('')
    statements.set(id, (text = USER + columns + FROM))
  }
  const [row] = await rows(id, text, [key])
  if (!row) return null
  const [views, likes, dislikes, count] = row.slice(13, 17)
  let body = `{"error":null,"user":${head(row)}`
  let next = 17
  for (const name of includes) {
    let value
    if (COLUMNS[name]) value = row[next++]
    else if (name === 'views') value = views
    else if (name === 'feedback') value = `{"likes":${likes},"dislikes":${dislikes}}`
    else value = await comments(row[0], count)
    body += `,"${name}":${value}`
  }
  return body + '}'
}

export async function leaderboard(board, limit) {
  const found = await rows('board', BOARD, [board, limit])
  const entries = found.map(([score, change, uid, username, name, chatId, verified, createdAt, views, text], i) => {
    const user = JSON.stringify({ id: Number(uid), username, displayName: name || username, chatId: chatId || '',
      isVerified: verified === 't', isBanned: false, createdAt: Number(createdAt) })
    return `{"rank":${i + 1},"user":${user.slice(0, -1)},${text},"viewCount":${views}},"score":${score},"change":${change}}`
  })
  return `[${entries.join(',')}]`
}
