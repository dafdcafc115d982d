"""The members of the chat server: invented ones, equal at each start, and the featured ones with everything."""

from __future__ import annotations

import time
from dataclasses import dataclass

from demo import invented
from demo.chat_platform import life, shapes
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import World
from demo.invented import SeededRandom, seeded

words = invented.load("chat")
ADA, CLEO = "268473310986240001", "268473310986240003"
STRANGER = "268473310986249999"  # exists, and is no member
STRANGERS = 5  # in all

EVERY_FLAG = (0, 1, 2, 3, 6, 7, 8, 9, 14, 17, 18)
FIRST, LATEST = 130_000_000_000, 330_000_000_000  # when accounts were made: milliseconds of the platform's own time
ONLINE = 1 / 3
# Bits of the public flags, with how many of a thousand have them.
FLAGS = ((0, 1), (1, 2), (2, 6), (3, 6), (6, 170), (7, 150), (8, 140), (9, 30), (14, 2), (17, 12), (18, 2), (22, 20))
BADGES = ("premium_tenure_3_month_v2", "guild_booster_lvl2", "legacy_username", "quest_completed", "orb_profile_badge")


@dataclass(frozen=True)
class Newcomer:
    """`presence`: None while offline."""

    member: Json
    presence: Json | None
    profile: Json | None


def newcomer(chat_id: str, name: str) -> Newcomer:
    """Return the member for an id and a name."""
    return _newcomer(seeded("newcomer", chat_id), chat_id, name, int(time.time()))


def fill(world: World, count: int) -> list[int]:
    """Add `count` members without a dispatch; return their ids."""
    now = int(time.time())
    first = len(world.members)
    ids = []
    for number in range(first, first + count):
        chance = seeded("member", number)
        chat_id = str(chance.randrange(FIRST, LATEST) << 22 | number & 0x3FFFFF)
        new = _newcomer(chance, chat_id, username(chance, number), now)
        world.put_member(chat_id, new.member, presence=new.presence, profile=new.profile)
        ids.append(int(chat_id))
    return ids


def _newcomer(chance: SeededRandom, chat_id: str, name: str, now: int) -> Newcomer:
    member = _member(chance, chat_id, name)
    profile = _profile(chance) if chance.chance(0.3) else None
    presence = life.presence(life.begin(chance, now), chat_id, name) if chance.chance(ONLINE) else None
    return Newcomer(member, presence, profile)


def username(chance: SeededRandom, number: int) -> str:
    """Return a unique name in lower case."""
    first = chance.pick(words.ADJECTIVES) if chance.chance(0.6) else chance.pick(words.GIVEN)
    return f"{first}{chance.pick(('', '.', '_'))}{chance.pick(words.NOUNS)}{number}"


def _member(chance: SeededRandom, chat_id: str, name: str) -> Json:
    shown = _shown_name(chance)
    flags = sum(1 << bit for bit, share in FLAGS if chance.chance(share / 1000))
    user: Json = {"username": name, "global_name": shown, "public_flags": flags}
    if chance.chance(0.85):
        user["avatar"] = chance.image_hash(is_animated=chance.chance(0.15))
    if chance.chance(0.15):
        user["avatar_decoration_data"] = decoration(chance)
    if chance.chance(0.08):
        user["collectibles"] = {"nameplate": nameplate(chance)}
    if chance.chance(0.12):
        user["primary_guild"] = clan(chance)
    if chance.chance(0.1):
        user["banner"] = chance.image_hash(is_animated=chance.chance(0.5))
    member: Json = {}
    if chance.chance(0.1):
        member["nick"] = f"{chance.pick(words.GIVEN)} {chance.pick(words.EMOJI)}"
    if chance.chance(0.03):
        member["avatar"] = chance.image_hash()
    if chance.chance(0.04):
        member["premium_since"] = shapes.JOINED_AT
    return shapes.member(chat_id, member, user)


def _shown_name(chance: SeededRandom) -> str | None:
    if chance.chance(0.25):
        return None
    given = chance.pick(words.GIVEN).capitalize()
    return f"{given} {chance.pick(words.EMOJI)}" if chance.chance(0.2) else given


def _profile(chance: SeededRandom) -> Json:
    biography = chance.pick(words.BIOGRAPHIES) if chance.chance(0.8) else None
    return {"biography": biography, "badges": [{"id": badge} for badge in BADGES if chance.chance(0.25)]}


def decoration(chance: SeededRandom) -> Json:
    return {"asset": chance.image_hash(is_animated=True), "sku_id": chance.snowflake(), "expires_at": None}


def nameplate(chance: SeededRandom) -> Json:
    name = chance.pick(words.NAMEPLATES)
    return {
        "asset": f"nameplates/nameplates/{name}/",
        "sku_id": chance.snowflake(),
        "label": name.upper(),
        "palette": "teal",
    }


def clan(chance: SeededRandom) -> Json:
    return {
        "identity_guild_id": chance.snowflake(),
        "identity_enabled": True,
        "tag": chance.pick(words.TAGS),
        "badge": chance.image_hash(),
    }


def featured_member(chat_id: str, name: str) -> Json:
    """Return a member with everything that the platform has. Cleo has no picture of her own."""
    chance = seeded("featured", chat_id)
    user = {
        "username": name,
        "global_name": name.capitalize(),
        "avatar": None if chat_id == CLEO else chance.image_hash(is_animated=True),
        "banner": chance.image_hash(is_animated=True),
        "accent_color": 0x3D6B5C,
        "avatar_decoration_data": decoration(chance),
        "collectibles": {"nameplate": nameplate(chance)},
        "primary_guild": clan(chance),
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
    """Return user objects of accounts that have not joined."""
    return [
        shapes.user(str(int(STRANGER) - number), {"username": f"passing.{word}", "global_name": word.capitalize()})
        for number, word in enumerate(words.NOUNS[:STRANGERS])
    ]
