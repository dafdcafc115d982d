"""What the lookups and leaderboards answer about Ada, typed from docs/spec/lookup.md into files of JSON. Keys of the
current form are in the order of the document; of the earlier ones the document gives no order.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.lookup.filled import BASE, BEN, CDN, CLEO, OPERATOR, row

Json = dict[str, Any]  # Any: a JSON value


def _read(name: str) -> Json:
    found: Json = json.loads((Path(__file__).parent / "expected" / f"{name}.json").read_text("utf-8"))
    return found


# The 22 settings, every one of them set to something that is no default.
SETTINGS = _read("settings")
EARLIER, BOARD_USER = _read("earlier"), _read("board_user")
# What the profile of the alias answers, for each include that the document lists as scoped.
OF_ALIAS = _read("alias")
_CURRENT = _read("current")
USER, LINKS, ALIASES = _CURRENT["user"], _CURRENT["links"], _CURRENT["aliases"]

BY_OPERATOR = {"id": OPERATOR, "username": "Opal", "name": "", "avatarUrl": "", "uid": 0}
BY_BEN = {"id": BEN, "username": "Ben", "name": "Ben Example", "avatarUrl": f"{BASE}/api/chat/avatar/{BEN}", "uid": 2}
BY_CLEO = {"id": CLEO, "username": "cleo", "name": "Cleo 🌱", "avatarUrl": f"{CDN}/avatars/cleo.png", "uid": 3}


def whole(profile_id: str) -> Json:
    """Return the current lookup with all includes."""
    profile = {**_CURRENT["profile"], "profileId": profile_id, "settings": SETTINGS}
    return {**_CURRENT, "profile": profile, "comments": {"count": 108, "items": COMMENTS}}


def _comment(number: int, content: str, at: str, author: Json, likes: int = 0, replies: int = 0) -> Json:
    return {
        "id": row(number),
        "content": content,
        "likeCount": likes,
        "replyCount": replies,
        "pinned": number in {0x4001, 0x4002},
        "createdAt": at,
        "author": author,
    }


COMMENTS: list[Json] = [
    _comment(0x4002, "Second", "2025-02-28T12:00:00.000Z", BY_BEN),
    _comment(0x4001, "First", "2025-02-27T12:00:00.000Z", BY_OPERATOR, likes=2, replies=1),
    _comment(0x4003, "At once", "2025-03-02T12:00:00.000Z", BY_CLEO),
    _comment(0x4004, "At once", "2025-03-02T12:00:00.000Z", BY_CLEO),
    *(
        _comment(
            0x5000 + number,
            f"Comment {number}",
            f"2025-03-01T{12 + number // 60}:{number % 60:02}:00.000Z",
            (BY_BEN, BY_CLEO)[number % 2],
        )
        for number in range(103, 7, -1)
    ),
]
