// A lookup and a leaderboard from the read model: the statements of lookup/documents/resolve.py and lookup/leaderboards.py.
import { rows } from './engines.js'
import { BASE_URL, UPLOADS } from './forms.js'

const COLUMNS = { profile: 'd.profile_text', badges: 'd.badges', widgets: 'd.widgets', audios: 'd.audios',
  backgrounds: 'd.backgrounds', links: 'd.links', projects: 'd.projects', aliases: 'f.aliases', gallery: 'd.gallery',
  sections: 'd.sections' }
const names = ['profile', 'badges', 'widgets', 'audios', 'backgrounds', 'links', 'projects', 'views', 'aliases',
  'gallery', 'sections', 'feedback', 'comments']
const live = new Set(['views', 'aliases', 'feedback', 'comments'])
const ACCOUNT = `u.id, u.is_active, u.public_api_access,
  CASE WHEN d.user_version = u.public_version THEN d.fingerprint END, d.plan_ends, d.head, d.lapsed_head`
const COUNTERS = ', f.views, f.likes, f.dislikes, f.comments'
const FROM = 'FROM accounts_name n JOIN accounts_user u ON u.id = n.user_id'
const OF_USER = 'JOIN lookup_userdocument f ON f.user_id = u.id'
const DOCUMENT = 'LEFT JOIN lookup_profiledocument d ON d.user_id = u.id AND d.is_main WHERE n.key = $1'
const COMMENTS = `
  SELECT c.id, c.content, c.like_count, c.reply_count, c.is_pinned, (extract(epoch FROM c.created_at) * 1000)::bigint,
    u.id, u.uid, u.username, u.display_name, d.avatar_path, d.mirrors_chat
  FROM lookup_comment c JOIN accounts_user u ON u.id = c.author_id AND u.is_active
  JOIN lookup_userdocument f ON f.user_id = u.id JOIN lookup_profiledocument d ON d.profile_id = f.profile_id
  WHERE c.user_id = $1 AND c.parent_id IS NULL
  ORDER BY c.is_pinned DESC, c.created_at DESC, c.id LIMIT 100`
const BOARD = `
  SELECT e.score, e.change, f.views, d.leaderboard
  FROM lookup_leaderboardentry e JOIN accounts_user u ON u.id = e.user_id AND u.is_active AND u.public_api_access
  JOIN lookup_userdocument f ON f.user_id = u.id
  LEFT JOIN lookup_profiledocument d ON d.user_id = u.id AND d.is_main
  WHERE e.board = $1 ORDER BY e.rank LIMIT $2`

const iso = (milliseconds) => new Date(Number(milliseconds)).toISOString()

function avatar(id, path, mirrors, otherwise) {
  if (mirrors === 't') return `${BASE_URL}/api/chat/avatar/${id}`
  return path ? `${UPLOADS}/${path}` : otherwise
}

async function comments(userId, count) {
  const found = await rows('comments', COMMENTS, [userId])
  const items = found.map(([id, content, likes, replies, pinned, createdAt, author, uid, username, name, path, mirrors]) => ({
    id, content, likeCount: Number(likes), replyCount: Number(replies), pinned: pinned === 't', createdAt: iso(createdAt),
    author: { id: author, username, name, avatarUrl: avatar(author, path, mirrors, ''), uid: Number(uid) } }))
  return JSON.stringify({ count: Number(count), items })
}

const statements = new Map()

function statement(includes) {
  const hasCounters = includes.some((name) => live.has(name))
  const texts = includes.map((name) => (COLUMNS[name] ? `, ${COLUMNS[name]}` : '')).join('')
  return `SELECT ${ACCOUNT}${hasCounters ? COUNTERS : ''}${texts} ${FROM} ${hasCounters ? OF_USER : ''} ${DOCUMENT}`
}

export async function lookup(key, query) {
  const includes = names.filter((name) => query[name] === 'true')
  const id = `lookup ${includes.join(' ')}`
  let text = statements.get(id)
  if (!text) statements.set(id, (text = statement(includes)))
  const [row] = await rows(id, text, [key])
  if (!row || row[1] !== 't' || row[2] !== 't' || row[3] === null) return null
  const isOver = row[4] !== null && Number(row[4]) <= Date.now() * 1000
  let next = 7
  let counters = []
  if (includes.some((name) => live.has(name))) {
    counters = row.slice(7, 11)
    next = 11
  }
  const [views, likes, dislikes, count] = counters
  let body = `{"error":null,"user":${isOver ? row[6] : row[5]}`
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
  const entries = found.map(([score, change, views, text], i) =>
    `{"rank":${i + 1},"user":${text}${views}},"score":${score},"change":${change}}`)
  return `[${entries.join(',')}]`
}
