"""The people of the simulated chat server whom everybody knows, and those who have not joined it."""

from __future__ import annotations

from demo.chat_platform import members, shapes, words
from demo.chat_platform.shapes import Json
from demo.seeded_random import seeded

ADA, CLEO = "268473310986240001", "268473310986240003"
STRANGER = "268473310986249999"  # exists, and is no member
STRANGERS = 5  # in all

EVERY_FLAG = (0, 1, 2, 3, 6, 7, 8, 9, 14, 17, 18)
PROFILES: dict[str, Json] = {
    ADA: {
        "biography": "Notes on engines, in *several* volumes.\nWrites first, compiles later. 🧮",
        "badges": [
            {"id": "premium_tenure_24_month_v2"},
            {"id": "guild_booster_lvl6"},
            {"id": "legacy_username"},
            {"id": "quest_completed"},
            {"id": "last_meadow_2025"},
            {"id": "orb_profile_badge"},
            {"id": "gifting_bronze"},
        ],
    },
    CLEO: {
        "biography": "Two cats, one synth, no plan.",
        "badges": [{"id": "premium"}, {"id": "quest_completed"}, {"id": "hypesquad_house_2"}],
    },
}


def member(chat_id: str, name: str) -> Json:
    """Somebody with everything that the platform has to give. Cleo has no picture of her own."""
    chance = seeded("featured", chat_id)
    user = {
        "username": name,
        "global_name": name.capitalize(),
        "avatar": None if chat_id == CLEO else chance.image_hash(is_animated=True),
        "banner": chance.image_hash(is_animated=True),
        "accent_color": 0x3D6B5C,
        "avatar_decoration_data": members.decoration(chance),
        "collectibles": {"nameplate": members.nameplate(chance)},
        "primary_guild": members.clan(chance),
        "public_flags": sum(1 << bit for bit in (EVERY_FLAG if chat_id == ADA else (7, 9, 17))),
    }
    member = {
        "nick": f"{name.capitalize()} of the lounge",
        "avatar": chance.image_hash(),
        "banner": chance.image_hash(),
        "roles": ["268473310660000001"],
        "premium_since": shapes.JOINED_AT,
    }
    return shapes.member(chat_id, member, user)


def strangers() -> list[Json]:
    """User objects."""
    return [
        shapes.user(str(int(STRANGER) - number), {"username": f"passing.{word}", "global_name": word.capitalize()})
        for number, word in enumerate(words.NOUNS[:STRANGERS])
    ]
