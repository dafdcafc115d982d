"""Which drawing of `static/img/platforms.svg` stands for a link without an icon of its own."""

from __future__ import annotations

import functools

TEXT, MAIL, WEB = "text", "mail", "web"
# By the platform that the owner names, else by a label of the host name.
_NAMES = {
    "mail": "mail email",
    "chat": "chat chat-server chatserver discord element matrix messaging session signal slack telegram whatsapp t.me",
    "people": "bluesky bsky facebook instagram linkedin mastodon misskey reddit social threads tumblr twitter x.com",
    "code": "bitbucket code codeberg codepen docker forgejo git gitea github gitlab npm pypi sourcehut stackoverflow",
    "music": "apple-music bandcamp deezer last.fm listenbrainz mixcloud music radio scrobbler soundcloud spotify tidal",
    "video": "kick odysee peertube tiktok tube twitch video vimeo youtu youtube",
    "picture": "artstation behance deviantart dribbble flickr gallery photos picture pinterest pixelfed pixiv",
    "game": "epicgames game games gog itch lichess minecraft playstation roblox steam steamcommunity xbox",
    "shop": "etsy redbubble shop store",
    "support": "buymeacoffee donate ko-fi kofi liberapay opencollective patreon paypal sponsors",
    "writing": "blog dev.to goodreads medium.com news substack wiki wikipedia wordpress",
    "figures": "anilist letterboxd myanimelist stats status tracker trakt",
}
_DRAWINGS = {name: drawing for drawing, names in _NAMES.items() for name in names.split()}


@functools.lru_cache(maxsize=1_000)
def drawing(platform: str, host: str) -> str:
    """Return the id of the drawing. `host`: of the link, a mail address, or "" for a text to copy."""
    names = (platform.strip().lower().replace(" ", "-"), host.lower(), *reversed(host.lower().split(".")[:-1]))
    known = next((_DRAWINGS[name] for name in names if name in _DRAWINGS), "")
    return known or (TEXT if not host else MAIL if "@" in host else WEB)
