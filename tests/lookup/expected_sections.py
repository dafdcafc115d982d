"""The rest of what the current lookup answers about Ada: gallery, sections, comments."""

from __future__ import annotations

from typing import Any

from tests.lookup.filled import BASE, BEN, CDN, CLEO, OPERATOR, row
from tests.lookup.filled_sections import SKILLS

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
    """One that nobody pinned, liked or replied to."""
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
    {**comment(0x4002, "Second", "2025-02-28T12:00:00Z", BY_BEN), "pinned": True},
    {**comment(0x4001, "First", "2025-02-27T12:00:00Z", BY_OPERATOR), "likeCount": 2, "replyCount": 1, "pinned": True},
]
COMMENTS: list[Json] = [
    *PINNED,
    comment(0x4003, "At once", "2025-03-02T12:00:00Z", BY_CLEO),
    comment(0x4004, "At once", "2025-03-02T12:00:00Z", BY_CLEO),
    *(
        comment(
            0x5000 + number,
            f"Comment {number}",
            f"2025-03-01T{12 + number // 60}:{number % 60:02}:00Z",
            (BY_BEN, BY_CLEO)[number % 2],
        )
        for number in range(103, 7, -1)
    ),
]
