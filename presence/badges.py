"""The badges that a member holds: from public flags, from boosting the chat server, and from the profile source."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings

from presence import fields
from presence.fields import Json

logger = logging.getLogger(__name__)

# In the canonical order.
NAMES = {
    "premium": "Premium",
    "staff": "Staff",
    "partner": "Partner",
    "moderator": "Moderator",
    "events": "Event Host",
    "bravery": "Bravery",
    "brilliance": "Brilliance",
    "balance": "Balance",
    "bughunter1": "Bug Hunter",
    "bughunter2": "Bug Hunter, Level 2",
    "developer": "Developer",
    "earlysupporter": "Early Supporter",
    "boosted": "Server Booster",
    "legacy": "Legacy Username",
    "quest": "Quest Completed",
    "leaf": "Leaf",
    "orb": "Orb",
    "gifting": "Gifting",
}

# Bits of `public_flags`. 22 is retired and means nothing.
_BITS = {
    0: "staff",
    1: "partner",
    2: "events",
    3: "bughunter1",
    6: "bravery",
    7: "brilliance",
    8: "balance",
    9: "earlysupporter",
    14: "bughunter2",
    17: "developer",
    18: "moderator",
}

# The ids of the profile source.
_IDS = {
    "premium": "premium",
    "staff": "staff",
    "partner": "partner",
    "certified_moderator": "moderator",
    "hypesquad": "events",
    "hypesquad_house_1": "bravery",
    "hypesquad_house_2": "brilliance",
    "hypesquad_house_3": "balance",
    "bug_hunter_level_1": "bughunter1",
    "bug_hunter_level_2": "bughunter2",
    "verified_developer": "developer",
    "early_supporter": "earlysupporter",
    "legacy_username": "legacy",
    "quest_completed": "quest",
    "orb_profile_badge": "orb",
}
_TIERED_IDS = (
    (re.compile("premium_tenure_[1-9][0-9]{0,2}_month_v[0-9]"), "premium"),
    (re.compile("guild_booster_lvl[1-9]"), "boosted"),
)
_PREFIXES = (("last_meadow", "leaf"), ("gifting", "gifting"))

_MOST_UNKNOWN = 100
unknown_ids: Counter[str] = Counter()  # how often this process has read an id that is no badge here


@dataclass(frozen=True, slots=True)
class Badge:
    name: str
    url: str


def of(member: Json, profile_badges: Sequence[object]) -> dict[str, Badge]:
    """By key, in the canonical order. `profile_badges`: ids of the profile source; what is no text
    is no id."""
    held = {*_from_member(member), *_from_profile(profile_badges)}
    return {key: Badge(name, address(key)) for key, name in NAMES.items() if key in held}


def address(key: str) -> str:
    """Our own icon."""
    return f"{settings.ASSET_URL}/badges/chat/{key}.svg"


def _from_member(member: Json) -> Iterator[str]:
    flags = fields.whole(fields.mapping(member.get("user")).get("public_flags")) or 0
    if flags > 0:
        yield from (key for bit, key in _BITS.items() if flags >> bit & 1)
    if fields.text(member.get("premium_since")):
        yield "boosted"


def _from_profile(ids: Sequence[object]) -> Iterator[str]:
    for named in ids:
        key = _key_of(named) if isinstance(named, str) else None
        if key:
            yield key
        else:
            _count(str(named)[:64])


def _key_of(id: str) -> str | None:
    if id in _IDS:
        return _IDS[id]
    tiered = (key for shape, key in _TIERED_IDS if shape.fullmatch(id))
    prefixed = (key for prefix, key in _PREFIXES if id.startswith(prefix))
    return next(tiered, None) or next(prefixed, None)


def _count(id: str) -> None:
    """Logged at its first sight; the count is bounded, since the ids come from outside."""
    if id not in unknown_ids:
        if len(unknown_ids) >= _MOST_UNKNOWN:
            return
        logger.info("The profile source names a badge that is unknown here: %r", id)
    unknown_ids[id] += 1
