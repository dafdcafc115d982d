"""What the presence store keeps, as objects and as text.

The text is ASCII JSON: a NUL or a lone surrogate, which may come from the platform, survives every cache. Damaged text
is logged and counts as absent.
"""

from __future__ import annotations

import json
import logging
import math
import re
from dataclasses import dataclass
from typing import Any

from presence.fields import Json

DEEP = 256  # containers: few enough that no reader's stack, however full, is too short for them
KEPT_DEPTH = 32
MAX_DIGITS = 300
# Made once, because `json.dumps` makes one for each value. Values that were JSON hold no cycles.
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """A member, raw as the platform sent it. `touched_at`: when an event last named the member.

    `presence`: None where there is no row, which is offline. `last_online`: when the member was last seen going
    offline. `is_private`: the user who linked the account turned public API access off.
    """

    member: Json
    presence: Json | None
    generation: int
    touched_at: float
    last_online: int | None
    is_private: bool = False

    def to_text(self) -> str:
        """Return the text. Never raises; the innermost parts of very deep values are left out."""
        return text_of(
            {
                "m": self.member,
                "p": self.presence,
                "g": self.generation,
                "t": self.touched_at,
                "l": self.last_online,
                **({"x": True} if self.is_private else {}),
            }
        )

    @classmethod
    def from_text(cls, text: Any) -> Record | None:
        """Return the record in `text`; None where it is damaged."""
        value = object_of(text, "record")
        if value is None:
            return None
        member, presence, last_online = value.get("m"), value.get("p"), number_of(value.get("l"))
        generation, touched_at = number_of(value.get("g")), number_of(value.get("t"))
        if not isinstance(member, dict) or generation is None or touched_at is None:
            logger.warning("A record of the presence store is damaged.")
            return None
        return cls(
            member=member,
            presence=presence if isinstance(presence, dict) else None,
            generation=int(generation),
            touched_at=touched_at,
            last_online=None if last_online is None else int(last_online),
            is_private=value.get("x") is True,
        )


class Ending:
    """The generation and `last_online` at the end of a record's text, read without parsing the rest."""

    __slots__ = ("_is_absent", "_record", "_text", "generation", "last_online")
    _SHAPE = re.compile(r',"g":([0-9]{1,19}),"t":[-+.0-9e]{1,40},"l":(null|[0-9]{1,19})(?:,"x":true)?\}')

    def __init__(self, text: str) -> None:
        start = text.rfind(',"g":')  # in a text of the platform's each quote has a backslash before it
        found = self._SHAPE.fullmatch(text, start) if start >= 0 else None
        self._text = text
        self._record = None if found else Record.from_text(text)
        self._is_absent = found is not None and text.endswith(',"p":null', 0, start)
        if found:
            self.generation = int(found[1])
            self.last_online = None if found[2] == "null" else int(found[2])
        else:
            self.generation = self._record.generation if self._record else 0
            self.last_online = self._record.last_online if self._record else None

    def presence(self) -> Json | None:
        """Return the presence from the rest of the text."""
        if self._is_absent:
            return None
        record = self._record or Record.from_text(self._text)
        return record.presence if record else None


@dataclass(frozen=True, slots=True)
class Banner:
    """The hash of a user's banner, None for none, as REST answered at `read_at`."""

    hash: str | None
    read_at: float

    def to_text(self) -> str:
        return text_of({"hash": self.hash, "at": self.read_at})

    @classmethod
    def from_text(cls, text: Any) -> Banner | None:
        value = object_of(text, "banner")
        read_at = number_of(value.get("at")) if value else None
        if value is None or read_at is None:
            return None
        return cls(_text_or_none(value.get("hash")), read_at)


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile source's answer at `read_at`. `is_failure`: it had none; the values are empty."""

    biography: str | None
    badges: tuple[str, ...]
    read_at: float
    is_failure: bool

    def to_text(self) -> str:
        return text_of(
            {"bio": self.biography, "badges": list(self.badges), "at": self.read_at, "failure": self.is_failure}
        )

    @classmethod
    def from_text(cls, text: Any) -> Profile | None:
        value = object_of(text, "profile")
        read_at = number_of(value.get("at")) if value else None
        if value is None or read_at is None:
            return None
        badges = value.get("badges")
        names = tuple(badge for badge in badges if isinstance(badge, str)) if isinstance(badges, list) else ()
        return cls(_text_or_none(value.get("bio")), names, read_at, value.get("failure") is True)


@dataclass(frozen=True, slots=True)
class Stamp:
    """The worker's statement that the store was up to date at `alive_at`, in this generation."""

    alive_at: float
    generation: int

    def to_text(self) -> str:
        return text_of({"at": self.alive_at, "g": self.generation})

    @classmethod
    def from_text(cls, text: Any) -> Stamp | None:
        value = object_of(text, "stamp")
        alive_at, generation = (number_of(value.get(key)) for key in ("at", "g")) if value else (None, None)
        return None if alive_at is None or generation is None else cls(alive_at, int(generation))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The values of one id in the store.

    `alive_at`: of the last stamp of a complete generation. `record`: None, too, where it is of an older generation. Its
    absence proves nothing: a server that is short of memory may have evicted it. `miss`: "", "notMember", "notFound" or
    "private", of a private account without a record. `is_private`: readers may not see the member.
    """

    alive_at: float | None
    record: Record | None
    banner: Banner | None
    profile: Profile | None
    miss: str
    is_private: bool = False


def text_of(value: Json) -> str:
    """Return ASCII JSON that every reader can parse. Never raises."""
    try:
        text = _ENCODER.encode(value)
    except (RecursionError, TypeError, ValueError) as error:  # too deep; not JSON; a number of thousands of digits
        logger.warning("A value for the presence store is cut: %s.", type(error).__name__)
        return _ENCODER.encode(_cut(value, KEPT_DEPTH))
    if text.count("{") + text.count("[") > DEEP:
        return _ENCODER.encode(_cut(value, KEPT_DEPTH))
    return text


def object_of(text: Any, what: str) -> Json | None:
    """Return the JSON object in `text`; None where there is no text, and, logged, where it is damaged."""
    if not isinstance(text, str) or not text:
        return None
    try:
        value = json.loads(text)
    except (RecursionError, ValueError):
        value = None
    if not isinstance(value, dict):
        logger.warning("A %s of the presence store is damaged.", what)
        return None
    return value


def number_of(value: Any) -> float | int | None:
    """Return `value` where it is a finite number, else None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _cut(value: Any, depth: int) -> Any:
    """Return the value without parts that are nested deeper than `depth` or are not JSON."""
    if isinstance(value, dict):
        return {str(key): _cut(inner, depth - 1) for key, inner in value.items()} if depth else None
    if isinstance(value, list | tuple):
        return [_cut(inner, depth - 1) for inner in value] if depth else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 10**MAX_DIGITS else None
    return value if value is None or isinstance(value, str | float | bool) else None
