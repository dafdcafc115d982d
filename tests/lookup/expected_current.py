"""What the current lookup answers about Ada with all includes, typed from docs/spec/lookup.md. Keys are in the
order of the document.
"""

from __future__ import annotations

from typing import Any

from tests.factories.lookup import SVG
from tests.lookup.filled import ADA, ART, BASE, BEN, CDN, CLEO, OPERATOR, OTHER_PROFILE, row
from tests.lookup.filled_rows import SKILLS
from tests.lookup.filled_settings import SETTINGS

Json = dict[str, Any]  # Any: a JSON value


def picture(number: int, caption: str, width: str) -> Json:
    asset = {"url": f"{CDN}/gallery/{number}.png", "mime": "image/png", "width": 640, "height": 480, "duration": None}
    return {"id": row(number), "caption": caption, "width": width, "asset": asset}


FIRST_GALLERY = [picture(0x63, "", "half")]
SECOND_GALLERY = [picture(0x62, "Picture 98", "quad"), picture(0x61, "Picture 97", "full")]
GALLERY = [*FIRST_GALLERY, *SECOND_GALLERY, picture(0x6F, "Picture 111", "half")]


def section(number: int, type_: str, **others: Any) -> Json:
    """Any: JSON values."""
    return {
        "id": row(0x90 + number),
        "type": type_,
        "order": number,
        "title": f"Section {number}" if number < 9 else "",
        "description": "",
        "alignment": "left",
        **others,
    }


ABOUT_ME: Json = {
    "description": "Described",
    "alignment": "center",
    "enabled": True,
    "content": "I weave **algebra**.",
    "widgetIds": [row(0xA1), row(0xA0)],
    "skills": SKILLS,
    "skillsEnabled": False,
    "skillsAlignment": "right",
}
CHESS: Json = {
    "gameCatalogId": 11,
    "name": "Chess",
    "image": "https://games.example.org/chess.jpg",
    "slug": "chess",
    "released": "1475-01-02",
    "rating": 4.5,
    "metacritic": 97,
}
DRAUGHTS = {**CHESS, "gameCatalogId": 12, "name": "Draughts", "image": "", "slug": ""}
DRAUGHTS |= dict.fromkeys(("released", "rating", "metacritic"))
GEARS: Json = {
    "animeCatalogId": 21,
    "title": "Gears",
    "image": "https://anime.example.org/g.jpg",
    "format": "TV",
    "year": 1999,
    "score": 8.25,
}
NOTES: Json = {
    "mediaCatalogId": 31,
    "mediaType": "tv",
    "title": "Notes",
    "image": "https://media.example.org/n.jpg",
    "year": 2001,
    "rating": 7,
}
LOOM = {"kind": "track", "musicId": "t1", "title": "Loom", "image": "https://music.example.org/m.jpg"}
SECTIONS: list[Json] = [
    section(1, "GALLERY", items=FIRST_GALLERY),
    section(2, "ABOUT_ME", **ABOUT_ME),
    section(3, "PROJECTS", projectIds=[row(0xF2), row(0xF1)]),
    section(4, "CUSTOM_TEXT", alignment="right", enabled=True, content="Some *text*"),
    section(5, "GALLERY", items=SECOND_GALLERY),
    section(6, "AUDIO_PLAYER"),
    section(7, "GAMES", games=[DRAUGHTS, CHESS]),
    section(
        8,
        "ANIME",
        anime=[
            GEARS,
            {"animeCatalogId": 22, "title": "Steam", "image": "", "format": "", "year": None, "score": None},
        ],
    ),
    section(
        9,
        "MEDIA",
        media=[
            NOTES,
            {"mediaCatalogId": 32, "mediaType": "movie", "title": "Looms", "image": "", "year": None, "rating": None},
        ],
    ),
    section(
        10,
        "MUSIC",
        music=[
            {"kind": "artist", "musicId": "a1", "title": "Ada", "image": ""},
            {"kind": "album", "musicId": "a1", "title": "Weaving", "image": "", "artist": "Ada"},
            {**LOOM, "artist": "Ada", "album": "Weaving"},
        ],
    ),
]

BY_OPERATOR = {"id": OPERATOR, "username": "Opal", "name": "", "avatarUrl": "", "uid": 0}
BY_BEN = {
    "id": BEN,
    "username": "Ben",
    "name": "Ben Example",
    "avatarUrl": f"{BASE}/api/chat/avatar/{BEN}",
    "uid": 2,
}
BY_CLEO = {"id": CLEO, "username": "cleo", "name": "Cleo 🌱", "avatarUrl": f"{CDN}/avatars/cleo.png", "uid": 3}


def comment(number: int, content: str, at: str, author: Json) -> Json:
    """A comment without pin, likes and replies."""
    return {
        "id": row(number),
        "content": content,
        "likeCount": 0,
        "replyCount": 0,
        "pinned": False,
        "createdAt": at,
        "author": author,
    }


PINNED: list[Json] = [
    {**comment(0x4002, "Second", "2025-02-28T12:00:00.000Z", BY_BEN), "pinned": True},
    {
        **comment(0x4001, "First", "2025-02-27T12:00:00.000Z", BY_OPERATOR),
        "likeCount": 2,
        "replyCount": 1,
        "pinned": True,
    },
]
COMMENTS: list[Json] = [
    *PINNED,
    comment(0x4003, "At once", "2025-03-02T12:00:00.000Z", BY_CLEO),
    comment(0x4004, "At once", "2025-03-02T12:00:00.000Z", BY_CLEO),
    *(
        comment(
            0x5000 + number,
            f"Comment {number}",
            f"2025-03-01T{12 + number // 60}:{number % 60:02}:00.000Z",
            (BY_BEN, BY_CLEO)[number % 2],
        )
        for number in range(103, 7, -1)
    ),
]


def asset(path: str, mime: str, width: int | None, height: int | None, duration: float | None = None) -> Json:
    return {"url": f"{CDN}/{path}", "mime": mime, "width": width, "height": height, "duration": duration}


def png(path: str, width: int = 640, height: int = 480) -> Json:
    return asset(path, "image/png", width, height)


def whole(profile_id: str) -> Json:
    return {
        "error": None,
        "user": USER,
        "profile": profile(profile_id),
        "badges": BADGES,
        "widgets": WIDGETS,
        "audios": AUDIOS,
        "backgrounds": BACKGROUNDS,
        "links": LINKS,
        "projects": PROJECTS,
        "views": 1234,
        "aliases": ALIASES,
        "gallery": GALLERY,
        "sections": SECTIONS,
        "feedback": {"likes": 2, "dislikes": 1},
        "comments": {"count": 108, "items": COMMENTS},
    }


USER = {
    "id": ADA,
    "uid": 1,
    "username": "Ada",
    "name": "Ada Example",
    "avatarUrl": f"{CDN}/avatars/ada.png",
    "chatId": "80351110224678912",
    "scrobblerUsername": "ada_listens",
    "premium": True,
    "verified": True,
    "imagehost": False,
    "inactive": False,
    "createdAt": "2024-05-06T07:08:09.120Z",
}


def profile(profile_id: str) -> Json:
    return {
        "profileId": profile_id,
        "name": "Main",
        "displayName": "Countess Ada",
        "description": 'First programmer.\n"Notes" <G>',
        "location": "London",
        "theme": "paper",
        "font": "Inter",
        "fontUsername": "Lora",
        "soundEffect": "chime",
        "soundEffectButton": "click",
        "createdAt": "2024-05-06T07:08:09.120Z",
        "updatedAt": "2025-05-07T07:08:09.120Z",
        "avatar": png("avatars/ada.png", 256, 256),
        "banner": png("banners/ada.png"),
        "cursor": png("cursors/arrow.png", 32, 32),
        "cursorPointer": png("cursors/hand.png", 32, 32),
        "fontAsset": asset("fonts/own.woff2", "font/woff2", None, None),
        "fontUsernameAsset": asset("fonts/name.woff2", "font/woff2", None, None),
        "soundEffectAsset": asset("sounds/enter.mp3", "audio/mpeg", None, None, 0.75),
        "soundEffectButtonAsset": asset("sounds/button.mp3", "audio/mpeg", None, None, 2),
        "metadataFavicon": png("icons/favicon.png", 64, 64),
        "metadataBanner": png("banners/card.png", 1200, 630),
        "settings": SETTINGS,
    }


TIER: Json = {
    "tier": 1,
    "threshold": 100,
    "title": "Hundred",
    "description": "Seen",
    "color": "#1b5e4b",
    "unlocked": True,
    "selected": True,
    "imageUrl": f"{ART}/badges/standard/viewer-1.svg",
}
SECOND_TIER: Json = {
    "tier": 2,
    "threshold": 2500.5,
    "title": "Many",
    "description": "",
    "color": "",
    "unlocked": False,
    "selected": False,
    "imageUrl": f"{ART}/badges/standard/viewer-2.svg",
}


def badge(number: int, type_: str, order: int, **others: Any) -> Json:
    """Any: JSON values."""
    return {
        "id": row(number),
        "type": type_,
        "badgeId": None,
        "enabled": True,
        "selectedTier": None,
        "unlockedTiers": [],
        "color": None,
        "recolor": False,
        "name": None,
        "order": order,
        "image": None,
        "imageUrl": None,
        "iconSvg": None,
        "tiers": [],
        **others,
    }


VIEWER: Json = {
    "badgeId": "viewer",
    "name": "Viewer",
    "selectedTier": 1,
    "unlockedTiers": [1],
    "color": "#222222",
    "recolor": True,
    "imageUrl": f"{ART}/badges/standard/viewer.svg",
    "tiers": [TIER, SECOND_TIER],
}
MEETUP: Json = {"badgeId": "meetup", "name": "Meetup", "imageUrl": f"{ART}/badges/events/m.png"}
BADGES: list[Json] = [
    badge(0xB1, "STANDARD", 0, **VIEWER),
    badge(0xB3, "CUSTOM", 1, name="Mine", recolor=True, image=png("badges/mine.png", 128, 128)),
    badge(0xB4, "CUSTOM", 2, enabled=False, color="#444444", iconSvg=SVG),
    badge(0xB2, "STANDARD", 3, enabled=False, **MEETUP),
]
PLATFORMS = "scrobbler chatServer socialPreference gameUsername messagingChannel statsUsername".split()
WIDGETS: list[Json] = [
    {"id": row(0xA0 + n), "platform": platform, "type": "card", "identifier": f"ada on {platform}", "order": n}
    for n, platform in enumerate(PLATFORMS)
]
AUDIOS = [
    {
        "id": row(0xC1),
        "title": "Engine song",
        "artist": "Charles",
        "externalUrl": "https://songs.example.org/1",
        "order": 0,
        "audio": asset("audio/1.mp3", "audio/mpeg", None, None, 180),
        "cover": png("covers/1.png", 300, 300),
    },
    {
        "id": row(0xC2),
        "title": "Untold",
        "artist": "",
        "externalUrl": "",
        "order": 1,
        "audio": asset("audio/2.ogg", "audio/ogg", None, None),
        "cover": None,
    },
]
BACKGROUNDS = [
    {
        "id": row(0xE2),
        "title": "A film",
        "order": 1,
        "asset": asset("backgrounds/2.mp4", "video/mp4", None, None, 12.5),
    },
    {"id": row(0xE3), "title": "", "order": 2, "asset": png("backgrounds/3.png")},
]


def link(number: int, title: str, url: str, order: int, **others: Any) -> Json:
    """Any: JSON values."""
    return {
        "id": row(number),
        "title": title,
        "url": url,
        "platformId": None,
        "platformType": None,
        "isText": False,
        "recolor": False,
        "color": None,
        "order": order,
        "icon": None,
        "iconSvg": None,
        **others,
    }


CODE = {"platformId": "codehost", "platformType": "code", "recolor": True, "color": "#333333"}
LINKS: list[Json] = [
    link(0xD1, "Code", "https://code.example.org/ada", 0, **CODE, icon=png("icons/code.png", 48, 48)),
    link(0xD2, "Notes", "https://notes.example.org/?a=1&b=2", 1, iconSvg=SVG),
    link(0xD3, "", "ada#1815", 2, isText=True),
]
PROJECTS = [
    {
        "id": row(0xF1),
        "title": "Engine",
        "description": "It computes.",
        "url": "https://engine.example.org/",
        "tags": ["brass", "steam"],
        "order": 0,
        "icon": png("icons/engine.png", 48, 48),
    },
    {"id": row(0xF2), "title": "Plan", "description": "", "url": "", "tags": [], "order": 1, "icon": None},
]
ALIASES = [
    {"name": "Countess", "redirect": True, "profileId": None},
    {"name": "Lovelace", "redirect": False, "profileId": OTHER_PROFILE},
]
