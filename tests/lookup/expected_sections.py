"""The rest of what the current lookup answers about Ada: gallery, sections, comments."""

from __future__ import annotations

from typing import Any

from tests.factories.lookup import SVG
from tests.lookup.filled import BASE, BEN, CDN, CLEO, OPERATOR, row

Json = dict[str, Any]  # Any: a JSON value


def picture(number: int, caption: str, width: str) -> Json:
    asset = {"url": f"{CDN}/gallery/{number}.png", "mime": "image/png", "width": 640, "height": 480, "duration": None}
    return {"id": row(number), "caption": caption, "width": width, "asset": asset}


FIRST_GALLERY = [picture(0x63, "", "half")]
SECOND_GALLERY = [picture(0x62, "Picture 98", "quad"), picture(0x61, "Picture 97", "full")]
GALLERY = [*FIRST_GALLERY, *SECOND_GALLERY, picture(0x6F, "Picture 111", "half")]

SECTIONS: list[Json] = [
    {
        "id": row(0x91),
        "type": "GALLERY",
        "order": 1,
        "title": "Section 1",
        "description": "",
        "alignment": "left",
        "items": FIRST_GALLERY,
    },
    {
        "id": row(0x92),
        "type": "ABOUT_ME",
        "order": 2,
        "title": "Section 2",
        "description": "Described",
        "alignment": "center",
        "enabled": True,
        "content": "I weave **algebra**.",
        "widgetIds": [row(0xA1), row(0xA0)],
        "skills": {
            "frontend": ["html"],
            "backend": ["python"],
            "database": ["sql"],
            "core": ["maths"],
            "game": ["chess"],
            "tools": ["git"],
            "cloud": ["fog"],
            "mobile": ["bike"],
            "design": ["ink"],
            "music": ["harp"],
            "custom": [{"label": "Engines", "iconName": "cog", "iconSvg": SVG}],
        },
        "skillsEnabled": False,
        "skillsAlignment": "right",
    },
    {
        "id": row(0x93),
        "type": "PROJECTS",
        "order": 3,
        "title": "Section 3",
        "description": "",
        "alignment": "left",
        "projectIds": [row(0xF2), row(0xF1)],
    },
    {
        "id": row(0x94),
        "type": "CUSTOM_TEXT",
        "order": 4,
        "title": "Section 4",
        "description": "",
        "alignment": "right",
        "enabled": True,
        "content": "Some *text*",
    },
    {
        "id": row(0x95),
        "type": "GALLERY",
        "order": 5,
        "title": "Section 5",
        "description": "",
        "alignment": "left",
        "items": SECOND_GALLERY,
    },
    {
        "id": row(0x96),
        "type": "AUDIO_PLAYER",
        "order": 6,
        "title": "Section 6",
        "description": "",
        "alignment": "left",
    },
    {
        "id": row(0x97),
        "type": "GAMES",
        "order": 7,
        "title": "Section 7",
        "description": "",
        "alignment": "left",
        "games": [
            {
                "gameCatalogId": 12,
                "name": "Draughts",
                "image": "",
                "slug": "",
                "released": None,
                "rating": None,
                "metacritic": None,
            },
            {
                "gameCatalogId": 11,
                "name": "Chess",
                "image": "https://games.example.org/chess.jpg",
                "slug": "chess",
                "released": "1475-01-02",
                "rating": 4.5,
                "metacritic": 97,
            },
        ],
    },
    {
        "id": row(0x98),
        "type": "ANIME",
        "order": 8,
        "title": "Section 8",
        "description": "",
        "alignment": "left",
        "anime": [
            {
                "animeCatalogId": 21,
                "title": "Gears",
                "image": "https://anime.example.org/g.jpg",
                "format": "TV",
                "year": 1999,
                "score": 8.25,
            },
            {"animeCatalogId": 22, "title": "Steam", "image": "", "format": "", "year": None, "score": None},
        ],
    },
    {
        "id": row(0x99),
        "type": "MEDIA",
        "order": 9,
        "title": "",
        "description": "",
        "alignment": "left",
        "media": [
            {
                "mediaCatalogId": 31,
                "mediaType": "tv",
                "title": "Notes",
                "image": "https://media.example.org/n.jpg",
                "year": 2001,
                "rating": 7,
            },
            {"mediaCatalogId": 32, "mediaType": "movie", "title": "Looms", "image": "", "year": None, "rating": None},
        ],
    },
    {
        "id": row(0x9A),
        "type": "MUSIC",
        "order": 10,
        "title": "",
        "description": "",
        "alignment": "left",
        "music": [
            {"kind": "artist", "musicId": "a1", "title": "Ada", "image": ""},
            {"kind": "album", "musicId": "a1", "title": "Weaving", "image": "", "artist": "Ada"},
            {
                "kind": "track",
                "musicId": "t1",
                "title": "Loom",
                "image": "https://music.example.org/m.jpg",
                "artist": "Ada",
                "album": "Weaving",
            },
        ],
    },
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
    {
        "id": row(0x4002),
        "content": "Second",
        "likeCount": 0,
        "replyCount": 0,
        "pinned": True,
        "createdAt": "2025-02-28T12:00:00Z",
        "author": BY_BEN,
    },
    {
        "id": row(0x4001),
        "content": "First",
        "likeCount": 2,
        "replyCount": 1,
        "pinned": True,
        "createdAt": "2025-02-27T12:00:00Z",
        "author": BY_OPERATOR,
    },
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
