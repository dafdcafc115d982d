// Pieces of SQL that write JSON as the service writes it.
export const { BASE_URL } = process.env
export const UPLOADS = process.env.UPLOAD_CDN_URL || `${BASE_URL}/uploads`
export const ASSETS = process.env.ASSET_URL || `${BASE_URL}/static`

// ISO 8601 in UTC with milliseconds and Z.
export const iso = (column) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const asset = (id) => `(
  SELECT json_build_object('url', '${UPLOADS}/' || x.path, 'mime', x.mime, 'width', x.width, 'height', x.height,
    'duration', x.duration) FROM lookup_asset x WHERE x.id = ${id})`

export const list = (form, order, from) => `(SELECT coalesce(json_agg(${form} ORDER BY ${order}), '[]') FROM ${from})`

// The picture of a main profile `p` of the user `u`: mirrored from the chat platform, uploaded, or `otherwise`.
export const avatarUrl = (user, profile, otherwise) => `
  CASE WHEN (${profile}.settings -> 'avatarSettings' ->> 'mirrorChat')::boolean
    THEN '${BASE_URL}/api/chat/avatar/' || ${user}.id
    ELSE coalesce((SELECT '${UPLOADS}/' || x.path FROM lookup_asset x WHERE x.id = ${profile}.avatar_id), ${otherwise}) END`
