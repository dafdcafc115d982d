"""Badges, links, projects, pictures, tracks and comments of a profile page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from lookup.page import icons, url_policy
from lookup.serializers.rows import CommentRow
from lookup.shapes import addresses

Json = dict[str, Any]  # Any: a JSON value, as the read model holds it
MESSENGER_TYPES = ("image/png", "image/jpeg", "image/gif")  # all messengers show these
CARD_TYPES = ("image/webp", "image/avif")  # several do not show these: they get a PNG
NO_REPLIES: Mapping[str, list[CommentRow]] = {}
CARD_SIDE = 640  # pixels of its longer side at most


@dataclass(frozen=True, slots=True)
class Picture:
    """An uploaded picture or film. `width` and `height` in pixels, None where they are not known."""

    src: str
    is_video: bool = False
    width: int | None = None
    height: int | None = None
    caption: str = ""
    span: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A picture for messengers. `url` is whole; `width` and `height` in pixels, None where they are not known."""

    url: str
    mime: str
    width: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class Badge:
    title: str
    tip: str
    image: str


@dataclass(frozen=True, slots=True)
class Link:
    """`href` counts the click and leads on to `url`; a text to copy has neither. `is_own`: a page of the owner, whose
    `href` is `url` itself. `image`: of the owner's; `drawing`: of ours, where there is none."""

    title: str
    url: str
    href: str
    host: str
    image: str
    drawing: str
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Project:
    title: str
    description: str
    url: str
    tags: list[str]
    image: str


@dataclass(frozen=True, slots=True)
class Track:
    title: str
    artist: str
    url: str
    host: str
    src: str
    mime: str
    cover: str


@dataclass(frozen=True, slots=True)
class Comment:
    """`replies`: the first ones, of `reply_count`."""

    id: str
    author_id: str
    name: str
    username: str
    avatar: str
    content: str
    likes: int
    reply_count: int
    is_pinned: bool
    created_at: datetime
    replies: list[Comment]

    @property
    def initial(self) -> str:
        return self.name[:1].upper()


def picture(asset: Json | None, *, caption: str = "", span: str = "") -> Picture | None:
    """Return an asset, if it is one that a page can show."""
    if asset is None:
        return None
    is_video = asset["mime"].startswith("video/")
    src = url_policy.own(asset["url"])
    if not src or not (is_video or asset["mime"].startswith("image/")):
        return None
    return Picture(src, is_video, asset["width"], asset["height"], caption, span)


def image(asset: Json | None) -> str:
    """Return the address of a still or moving picture that is no film; empty for any other asset."""
    shown = picture(asset)
    return "" if shown is None or shown.is_video else shown.src


def card(asset: Json | None) -> Card | None:
    """Return the asset where messengers show it, else a PNG of it; None where there is none, as of a drawing (SVG)."""
    if asset is None or not (src := image(asset)):
        return None
    mime, width, height = asset["mime"], asset["width"], asset["height"]
    if mime in MESSENGER_TYPES:
        return Card(f"{settings.BASE_URL}{src}" if src.startswith("/") else src, mime, width, height)
    path = asset["url"].removeprefix(f"{settings.UPLOAD_CDN_URL}/")
    if mime not in CARD_TYPES or path == asset["url"]:
        return None
    if width and height:
        scale = min(CARD_SIDE / max(width, height), 1)
        width, height = max(round(width * scale), 1), max(round(height * scale), 1)
    return Card(addresses.card(path), "image/png", width, height)


def avatar(asset: Json | None, user_id: str) -> str:
    """Return the picture of the profile; empty where it has none."""
    if asset is not None and asset["url"] == addresses.mirrored_avatar(user_id):
        return url_policy.on_page(asset["url"])
    return image(asset)


def badges(found: Iterable[Json]) -> list[Badge]:
    """Return the enabled badges."""
    return [_badge(one) for one in found if one["enabled"]]


def _badge(one: Json) -> Badge:
    """Return the badge with the artwork and words of the selected tier, or of the highest unlocked one."""
    unlocked = [tier for tier in one["tiers"] if tier["unlocked"]]
    selected = [tier for tier in unlocked if tier["selected"]] or unlocked
    if selected:
        tier = max(selected, key=lambda tier: int(tier["tier"]))
        return Badge(tier["title"] or one["name"], tier["description"], url_policy.own(tier["imageUrl"]))
    drawn = icons.picture(one["iconSvg"] or "", one["color"] or "") or image(one["image"])
    return Badge(one["name"] or "Badge", "", drawn or url_policy.own(one["imageUrl"] or ""))


def links(found: Iterable[Json], name: str, *, own: Collection[str] = ()) -> list[Link]:
    """Return links that a browser may follow, and texts to copy. `name`: whose page this is, as its address says.

    `own`: ids of links that the owner marks. Verifiers of rel="me" compare addresses, so these have the target's.
    """
    shown = []
    for one in found:
        drawn = icons.picture(one["iconSvg"] or "", one["color"] or "") or image(one["icon"])
        if one["isText"]:
            title = one["title"] or one["platformType"] or "Text"
            shown.append(Link(title, one["url"], "", "", drawn, icons.drawing(one["platformId"] or "", "")))
        elif url := url_policy.outside(one["url"], url_policy.LINKS):
            host = url_policy.host(url)
            title = one["title"] or one["platformType"] or host
            is_own = one["id"] in own and bool(url_policy.outside(url))
            href = url if is_own else reverse("profile_link", args=[name, one["id"]])
            shown.append(Link(title, url, href, host, drawn, icons.drawing(one["platformId"] or "", host), is_own))
    return shown


def projects(found: Iterable[Json]) -> list[Project]:
    return [
        Project(one["title"], one["description"], url_policy.outside(one["url"]), one["tags"], image(one["icon"]))
        for one in found
    ]


def tracks(found: Iterable[Json]) -> list[Track]:
    """Return the tracks whose file a browser can play."""
    return [
        Track(
            title=one["title"],
            artist=one["artist"],
            url=(url := url_policy.outside(one["externalUrl"])),
            host=url_policy.host(url),
            src=src,
            mime=one["audio"]["mime"],
            cover=image(one["cover"]),
        )
        for one in found
        if (src := url_policy.own(one["audio"]["url"]))
    ]


def gallery(found: Iterable[Json]) -> list[Picture]:
    shown = (picture(one["asset"], caption=one["caption"], span=one["width"]) for one in found)
    return [one for one in shown if one is not None]


def comments(rows: Iterable[CommentRow], replies: Mapping[str, list[CommentRow]] = NO_REPLIES) -> list[Comment]:
    """Return the comments. `replies`: the shown ones, by comment. Leaves out pictures that authors mirror from the chat
    platform: a reader of the page makes no request to it."""
    return [
        Comment(
            id=row.id,
            author_id=row.author_id,
            name=row.display_name or row.username,
            username=row.username,
            avatar=url_policy.own(row.avatar_url),
            content=row.content,
            likes=row.like_count,
            reply_count=row.reply_count,
            is_pinned=bool(row.is_pinned),
            created_at=row.created_at,
            replies=comments(replies.get(row.id, ())),
        )
        for row in rows
    ]
