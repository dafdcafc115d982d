"""What the check of a request must know of an API key and its owner, small enough to keep in a cache. Pure rules."""

from __future__ import annotations

import enum
import json
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Self

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
FOREVER = 2**53 - 1  # the greatest whole number that Lua counts exactly: the year 2255


class Verdict(enum.StrEnum):
    """How a check ended, in the order in which the reasons are looked at."""

    ADDRESS_LIMITED = "ADDRESS_LIMITED"
    UNKNOWN = "UNKNOWN"
    DEAD = "DEAD"
    DISABLED = "DISABLED"
    EXPIRED = "EXPIRED"
    NOT_PERMITTED = "NOT_PERMITTED"
    KEY_LIMITED = "KEY_LIMITED"
    OK = "OK"


class KeyRecord(NamedTuple):
    """A key as it stands in the database. Times are microseconds since 1970.

    `is_dead`: revoked, or the owner is banned. `premium_until`: 0 where the owner has no premium.
    """

    key_id: int
    owner_id: str
    permissions: list[str]
    is_dead: bool
    is_enabled: bool
    expires_at: int
    premium_until: int
    has_quota: bool

    def verdict(self, permission: str, now: int) -> Verdict:
        """What is wrong with the key, limits and usage aside. `now`: in microseconds since 1970."""
        if self.is_dead:
            return Verdict.DEAD
        if not self.is_enabled:
            return Verdict.DISABLED
        if self.expires_at <= now:
            return Verdict.EXPIRED
        return Verdict.OK if permission in self.permissions else Verdict.NOT_PERMITTED

    def is_premium(self, now: int) -> bool:
        """`now`: in microseconds since 1970."""
        return now < self.premium_until

    def to_json(self) -> str:
        return json.dumps(self._asdict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        return cls(**json.loads(text))


def microseconds(moment: datetime | None) -> int:
    """`moment` as records and scripts count it; None never comes."""
    return FOREVER if moment is None else min((moment - EPOCH) // _MICROSECOND, FOREVER)
