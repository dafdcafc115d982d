// The sections of a profile `p`, each in the form of its type.
import { asset, list } from './forms.js'

const COMMON = ['id', 'type', '"order"', 'title', 'description', 'alignment']
const common = COMMON.map((column) => `'${column.replaceAll('"', '')}', s.${column}`).join(', ')
const form = (more = '') => `json_build_object(${common}${more})`

const kept = (key, table) =>
  list('wanted.id', 'wanted.place', `jsonb_array_elements_text(s.config -> '${key}') WITH ORDINALITY wanted(id, place)
    JOIN ${table} known ON known.id = wanted.id AND known.profile_id = s.profile_id`)

const titles = (key, table, pairs) =>
  list(`json_build_object(${pairs.map(([name, column]) => `'${name}', t.${column}`).join(', ')})`, 'wanted.place',
    `jsonb_array_elements_text(s.config -> '${key}') WITH ORDINALITY wanted(id, place)
    JOIN ${table} t ON t.id = wanted.id::bigint`)

const GAME = [['gameCatalogId', 'id'], ['name', 'name'], ['image', 'image'], ['slug', 'slug'],
  ['released', 'released'], ['rating', 'rating'], ['metacritic', 'metacritic']]
const ANIME = [['animeCatalogId', 'id'], ['title', 'title'], ['image', 'image'], ['format', 'format'],
  ['year', 'year'], ['score', 'score']]
const MEDIA = [['mediaCatalogId', 'id'], ['mediaType', 'media_type'], ['title', 'title'], ['image', 'image'],
  ['year', 'year'], ['rating', 'rating']]
const music = list(
  `CASE t.kind
    WHEN 'track' THEN json_build_object('kind', t.kind, 'musicId', t.music_id, 'title', t.title, 'image', t.image,
      'artist', t.artist, 'album', t.album)
    WHEN 'album' THEN json_build_object('kind', t.kind, 'musicId', t.music_id, 'title', t.title, 'image', t.image,
      'artist', t.artist)
    ELSE json_build_object('kind', t.kind, 'musicId', t.music_id, 'title', t.title, 'image', t.image) END`,
  'wanted.place',
  `jsonb_array_elements(s.config -> 'music') WITH ORDINALITY wanted(item, place)
  JOIN lookup_musicitem t ON t.kind = wanted.item ->> 'kind' AND t.music_id = wanted.item ->> 'musicId'`,
)
const picture = `json_build_object('id', g.id, 'caption', g.caption, 'width', g.width, 'asset', ${asset('g.asset_id')})`
const config = (...names) => names.map((name) => `, '${name}', s.config -> '${name}'`).join('')

const ABOUT_ME = form(`, 'enabled', true, 'widgetIds', ${kept('widgetIds', 'lookup_widget')}
  ${config('content', 'skills', 'skillsEnabled', 'skillsAlignment')}`)

export const sections = list(
  `CASE s.type
    WHEN 'ABOUT_ME' THEN ${ABOUT_ME}
    WHEN 'PROJECTS' THEN ${form(`, 'projectIds', ${kept('projectIds', 'lookup_project')}`)}
    WHEN 'CUSTOM_TEXT' THEN ${form(`, 'enabled', true${config('content')}`)}
    WHEN 'GALLERY' THEN ${form(`, 'items', ${list(picture, 'g."order", g.id', 'lookup_galleryitem g WHERE g.section_id = s.id')}`)}
    WHEN 'GAMES' THEN ${form(`, 'games', ${titles('gameIds', 'lookup_game', GAME)}`)}
    WHEN 'ANIME' THEN ${form(`, 'anime', ${titles('animeIds', 'lookup_anime', ANIME)}`)}
    WHEN 'MEDIA' THEN ${form(`, 'media', ${titles('mediaIds', 'lookup_mediatitle', MEDIA)}`)}
    WHEN 'MUSIC' THEN ${form(`, 'music', ${music}`)}
    ELSE ${form()} END`,
  's."order", s.id',
  'lookup_section s WHERE s.profile_id = p.id AND s.is_enabled',
)

export const gallery = list(
  picture,
  '(s.id IS NULL), s."order", s.id, g."order", g.id',
  `lookup_galleryitem g LEFT JOIN lookup_section s ON s.id = g.section_id AND s.is_enabled AND s.type = 'GALLERY'
  WHERE g.profile_id = p.id AND (g.section_id IS NULL OR s.id IS NOT NULL)`,
)
