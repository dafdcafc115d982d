"""A line written by hand from the documents, and ways to change it."""

from __future__ import annotations

import copy
import json
import re
from datetime import datetime
from typing import Any

from django.conf import settings

from lookup.shapes import settings_schema
from tests.factories.lookup import SVG

Json = dict[str, Any]
USER, PROFILE, ALIAS_PROFILE, AUTHOR = "a" * 32, "b" * 32, "c" * 32, "d" * 32
SECOND = "1" * 32


def new_id(number: int) -> str:
    return f"{number:032x}"


def asset(path: str, mime: str = "image/png", **facts: Any) -> Json:
    url = f"{settings.UPLOAD_CDN_URL}/{path}"
    return {"url": url, "mime": mime, "width": None, "height": None, "duration": None, **facts}


def artwork(name: str) -> str:
    return f"{settings.ASSET_URL}/badges/standard/{name}"


def line(**changes: Any) -> Json:
    """Every include filled. Numbers and moments in forms that the service does not write itself."""
    picture = {"id": new_id(70), "caption": "One", "width": "full", "asset": asset("g/1.png", width=800, height=600.0)}
    loose = {"id": new_id(71), "caption": "", "width": "half", "asset": asset("g/2.png")}
    whole: Json = {
        "comments": {
            "items": [comment(80, pinned=True), comment(81, content="Zweiter «Kommentar»"), comment(82)],
            "count": 250,
        },
        "feedback": {"dislikes": 3, "likes": 40.0},
        "sections": sections(picture),
        "gallery": [picture, loose],
        "aliases": [
            {"name": "Zed", "redirect": True, "profileId": None},
            {"name": "alias-2", "redirect": False, "profileId": ALIAS_PROFILE},
        ],
        "views": 1234567,
        **rows(),
        "badges": badges(),
        "profile": profile(),
        "user": {
            "id": USER,
            "uid": 41,
            "username": "Hand.Written",
            "name": "By hand",
            "avatarUrl": f"{settings.UPLOAD_CDN_URL}/me.webp",
            "chatId": "268473310986249999",
            "scrobblerUsername": "hand-fm",
            "premium": True,
            "verified": True,
            "imagehost": False,
            "inactive": True,
            "createdAt": "2020-02-29T23:59:59+00:00",
        },
        "error": None,
    }
    return {**whole, **changes}


def comment(number: int, **changes: Any) -> Json:
    author = {"id": AUTHOR, "username": "Author", "name": "", "avatarUrl": "", "uid": 7}
    moment = "2026-01-01T12:00:00.5Z"
    whole = {"id": new_id(number), "content": "Hi", "likeCount": 2, "replyCount": 1, "pinned": False}
    return {**whole, "createdAt": moment, "author": author, **changes}


def profile() -> Json:
    names = "banner cursor cursorPointer fontAsset fontUsernameAsset soundEffectAsset soundEffectButtonAsset".split()
    texts = "name displayName description location theme font fontUsername soundEffect soundEffectButton".split()
    return {
        "profileId": PROFILE,
        **{name: f"The {name}" for name in texts},
        "createdAt": "2020-03-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T02:00:00.123+02:00",
        "avatar": asset("me.webp", "image/webp", width=1, height=2),
        **{name: asset(f"files/{name}.bin", "font/woff2", duration=1.0) for name in names},
        "metadataFavicon": None,
        "metadataBanner": None,
        "settings": settings_schema.filled({"cardSettings": {"blur": 3.5}, "metadataSettings": {"color": "#ABC"}}),
    }


def badges() -> list[Json]:
    nothing: Json = {"badgeId": None, "selectedTier": None, "unlockedTiers": [], "imageUrl": None, "tiers": []}
    custom = {"type": "CUSTOM", "enabled": False, "color": None, "recolor": True, **nothing}
    tiers = [tier(1, selected=True, unlocked=True, threshold=100), tier(2), tier(3, unlocked=True, threshold=0.5)]
    return [
        {
            "id": new_id(10),
            "type": "STANDARD",
            "badgeId": "seafarer",
            "enabled": True,
            "selectedTier": 1,
            "unlockedTiers": [1, 3],
            "color": "#1b5e4b",
            "recolor": False,
            "name": "Seafarer",
            "order": 0,
            "image": None,
            "imageUrl": artwork("seafarer.svg"),
            "iconSvg": None,
            "tiers": tiers,
        },
        {"id": new_id(11), "name": "Mine", "order": 1, "image": None, "iconSvg": SVG, **custom},
        {"id": new_id(12), "name": None, "order": 1, "image": asset("b.gif", "image/gif"), "iconSvg": None, **custom},
    ]


def tier(number: int, **changes: Any) -> Json:
    texts = {"title": f"Tier {number}", "description": "", "color": "", "imageUrl": artwork(f"seafarer-{number}.svg")}
    return {"tier": number, "threshold": 10 * number, "unlocked": False, "selected": False, **texts, **changes}


def rows() -> Json:
    link = {"title": "L", "platformType": None, "recolor": False, "order": 0, "iconSvg": None}
    song = asset("song.mp3", "audio/mpeg", duration=61.25)
    text = {"title": "T", "order": 0}
    return {
        "widgets": [{"id": new_id(20), "platform": "scrobbler", "type": "recent", "identifier": "me", "order": 2}],
        "audios": [{"id": new_id(30), **text, "artist": "", "externalUrl": "", "audio": song, "cover": None}],
        "backgrounds": [{"id": new_id(40), **text, "asset": asset("sea.mp4", "video/mp4", duration=3)}],
        "links": [
            {**link, "id": new_id(50), "url": "https://a.example/", "platformId": "site", "isText": False}
            | {"color": "#fff", "icon": asset("icon.png")},
            {**link, "id": new_id(51), "url": "to copy", "platformId": None, "isText": True}
            | {"color": None, "icon": None, "iconSvg": SVG},
        ],
        "projects": [
            {"id": new_id(60), **text, "description": "", "url": "", "tags": ["a", "b"], "icon": None},
            {**text, "id": new_id(61), "description": "D", "url": "https://p.example", "tags": [], "icon": None},
        ],
    }


def sections(picture: Json) -> list[Json]:
    skills: Json = {name: [] for name in "frontend backend database core game tools cloud mobile design music".split()}
    skills |= {"core": ["Rust"], "custom": [{"label": "Knots", "iconName": "", "iconSvg": SVG}]}
    about = {"enabled": True, "content": "Me", "widgetIds": [new_id(20)], "skills": skills}
    game = {"gameCatalogId": 5, "name": "G", "image": "", "slug": "g", "released": "1999-12-31", "rating": 4.0}
    anime = {"animeCatalogId": 5, "title": "A", "image": "", "format": "TV", "year": None, "score": 8.25}
    film = {"mediaCatalogId": 5, "mediaType": "movie", "title": "F", "image": "", "year": 1979, "rating": None}
    track = {"kind": "track", "musicId": "t1", "title": "M", "image": "", "artist": "Someone", "album": "Album"}
    album = {"kind": "album", "musicId": "a1", "title": "M", "image": "", "artist": "Someone"}
    singer = {"kind": "artist", "musicId": "s1", "title": "Someone", "image": ""}
    by_type: list[tuple[str, Json]] = [
        ("ABOUT_ME", {**about, "skillsEnabled": False, "skillsAlignment": "right"}),
        ("PROJECTS", {"projectIds": [new_id(61), new_id(60)]}),
        ("CUSTOM_TEXT", {"enabled": True, "content": "Text"}),
        ("GALLERY", {"items": [copy.deepcopy(picture)]}),
        ("AUDIO_PLAYER", {}),
        ("GAMES", {"games": [{**game, "metacritic": 90}]}),
        ("ANIME", {"anime": [anime]}),
        ("MEDIA", {"media": [film]}),
        ("MUSIC", {"music": [track, album, singer]}),
    ]
    common = {"title": "", "description": "About it", "alignment": "center"}
    return [
        {"id": new_id(90 + order), "type": type_, "order": order, **common, **extra}
        for order, (type_, extra) in enumerate(by_type)
    ]


def changed(path: str, value: Any) -> Json:
    """The line with another value at `path`; `...`: without it."""
    whole = line()
    put(whole, path, value)
    return whole


def put(whole: Json, path: str, value: Any) -> None:
    """Any: JSON; `...` removes the value."""
    *way, last = path.split(".")
    at: Any = whole
    for name in way:
        at = at[int(name) if isinstance(at, list) else name]
    key: Any = int(last) if isinstance(at, list) else last
    if value is ...:
        del at[key]
    else:
        at[key] = value


def second(**user: Any) -> Json:
    """Another user, who names nothing that the first line names."""
    text = json.dumps(line()).replace(USER, SECOND).replace(PROFILE, "2" * 32).replace(ALIAS_PROFILE, "3" * 32)
    for number in range(10, 100):
        text = text.replace(new_id(number), new_id(1000 + number))
    whole = dict(json.loads(text))
    whole["user"] |= {"uid": 42, "username": "Second", "chatId": "42", "scrobblerUsername": "second", **user}
    whole["aliases"] = [{"name": "Second2", "redirect": True, "profileId": None}]
    return whole


def text_of(*lines: Json) -> str:
    return "".join(json.dumps(one) + "\n" for one in lines)


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*")


def normal(value: Any) -> Any:
    """The same for two texts of one timestamp."""
    if isinstance(value, dict):
        return {name: normal(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [normal(entry) for entry in value]
    return datetime.fromisoformat(value) if isinstance(value, str) and _MOMENT.fullmatch(value) else value
