"""Rate limits: the counting of requests and API keys against the rows of a table.

Windows are fixed: the first request opens one, and refused requests neither extend it nor count. `hit()` is one round
trip to the store however many limits apply; so is `check_key()`, which reads an API key too, once its record is cached.

The store is `in_redis`; `in_process` is that of the embedded default.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol, Self

from django.conf import settings
from django.utils.module_loading import import_string
from prometheus_client import Counter

from infrastructure.once import once
from infrastructure.requests.request_context import Prefetch
from infrastructure.settings_cache import from_settings
from infrastructure.timestamps import EPOCH, MICROSECOND, MILLISECOND

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
RECORD_LIFETIME = timedelta(seconds=60)  # how long a key's record is cached
FOREVER = 2**53 - 1  # the greatest whole number that Lua counts exactly: the year 2255


REFUSED = Counter(
    "hearth_refusals",
    "Requests refused by a limit, by name: of an address (api, protocol), a key (key, key-uses), a plan (plan-...).",
    ("limit",),
)


class Limit:
    """A row of the table: at most `amount` requests of one subject within `window`. `counts` says what is counted.

    Rows of one name share their windows.
    """

    def __init__(self, name: str, amount: int, counts: str, *, window: timedelta = MINUTE) -> None:
        self.name = name
        self.amount = amount
        self.counts = counts
        self.window = window
        self.seconds = window.total_seconds()
        self.milliseconds = window // MILLISECOND
        self.for_script = amount, self.milliseconds

    def of(self, subject: str = "") -> Window:
        """The window of one address, key, user or the like."""
        return Window(f"{self.name}:{subject}", self)


class Left(NamedTuple):
    """What a window has left. `requests`: at least 0. `seconds`: until it ends (whole, at least 1)."""

    limit: Limit
    requests: int
    seconds: int

    @classmethod
    def of(cls, limit: Limit, count: int, milliseconds: int) -> Self:
        """`count`: the requests in the window. A limit may have shrunk below that, as where premium ends."""
        requests = limit.amount - count
        return cls(limit, requests if requests > 0 else 0, -(-milliseconds // 1000) or 1)


@dataclass(slots=True)
class Window:
    """The window in which a request counts. `key` names it in the store.

    `left`: once a request is counted in it or refused, if it is the first window of a call.
    """

    key: str
    limit: Limit
    left: Left | None = None


class Verdict(enum.StrEnum):
    """How the check of a key ended, in the order in which the reasons are checked."""

    ADDRESS_LIMITED = "ADDRESS_LIMITED"
    UNKNOWN = "UNKNOWN"
    DEAD = "DEAD"
    DISABLED = "DISABLED"
    EXPIRED = "EXPIRED"
    NOT_PERMITTED = "NOT_PERMITTED"
    KEY_LIMITED = "KEY_LIMITED"
    OK = "OK"


REFUSALS = (Verdict.ADDRESS_LIMITED, Verdict.KEY_LIMITED)  # in the order of the windows of a request with a key


class KeyRecord(NamedTuple):
    """The columns of a key and its owner that a request's check needs. Times are microseconds since 1970.

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
        """Return the verdict on the key, limits and usage aside. `now`: in microseconds since 1970."""
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


def microseconds(at: datetime | None) -> int:
    """A time as records have it; FOREVER for None."""
    return FOREVER if at is None else min((at - EPOCH) // MICROSECOND, FOREVER)


@dataclass(slots=True)
class KeyRequest:
    """A request that brings a key.

    `instant`: in microseconds since 1970. `premium_limit`: where the owner of the key has premium. `is_counted` False:
    no limit counts or refuses it. `prefetch`: sent along where the store is Redis. `cost`: how many requests it counts
    as in the key's window; in the address's it is one. `left`: what the key's window has left, once the request is
    counted in it, or refused by it.
    """

    address: Window
    secret_hash: str
    permission: str
    instant: int
    limit: Limit
    premium_limit: Limit
    is_counted: bool = True
    prefetch: Prefetch | None = None
    cost: int = 1
    left: Left | None = None

    def verdict(self, record: KeyRecord | None) -> Verdict:
        """Return the verdict on the key of this record, limits aside."""
        return Verdict.UNKNOWN if record is None else record.verdict(self.permission, self.instant)

    def limit_of(self, record: KeyRecord) -> Limit:
        """Return the limit of the key's window."""
        return self.premium_limit if record.is_premium(self.instant) else self.limit


@dataclass(slots=True)
class KeyAnswer:
    """How the check of a key ended. `record`: of a known key, unless a limit refuses the request.

    `seconds_left`: until the window that refuses the request ends (whole, at least 1); 0 where none does.
    """

    verdict: Verdict
    record: KeyRecord | None = None
    seconds_left: int = 0


LoadKey = Callable[[str], KeyRecord | None]  # by the SHA-256 of its secret, from the database


class LimitsUnavailable(Exception):
    """The store does not answer, so requests cannot be counted."""


class LimitStore(Protocol):
    """Counts requests in all windows of a call, or, where one is used up, in none.

    `check_key` takes the address's window first, whatever the key; a key that is refused for itself counts for the
    address, one whose window has less left than the request costs for neither. It may answer from a record as old as
    RECORD_LIFETIME, but not from one older than the key's last `forget_keys`.
    """

    def hit(self, windows: Sequence[Window]) -> int: ...

    def peek(self, window: Window) -> int: ...

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer: ...

    def forget_keys(self, secret_hashes: Sequence[str]) -> None: ...


@once
def _store() -> LimitStore:
    store: LimitStore = import_string(settings.LIMIT_STORE)()
    return store


@from_settings
def _is_counting() -> bool:
    return settings.RATE_LIMITS_ENABLED


def hit(*windows: Window) -> int:
    """Count one request in all of `windows`, and return 0. Where one is used up, count nothing and return the seconds
    until the first such window ends. With RATE_LIMITS_ENABLED=0 nothing is counted.

    LimitsUnavailable: answer 503; accepting every request would be a reason to attack the store.
    """
    return _noted(_store().hit(windows), windows[0]) if _is_counting() else 0


def peek(window: Window) -> int:
    """Return the seconds until a used-up window ends, else 0; count nothing. LimitsUnavailable."""
    return _noted(_store().peek(window), window) if _is_counting() else 0


def _noted(seconds_left: int, window: Window) -> int:
    """A refusal is counted under the first of its windows."""
    if seconds_left:
        REFUSED.labels(window.limit.name).inc()
    return seconds_left


def take(*windows: Window) -> int:
    """Count one call to another service in all of `windows`, whatever RATE_LIMITS_ENABLED is; return as `hit`."""
    return _store().hit(windows)


def check_key(asked: KeyRequest, load: LoadKey) -> KeyAnswer:
    """Count a request with a key, and return the verdict on the key. LimitsUnavailable as `hit`.

    With RATE_LIMITS_ENABLED=0 nothing is counted, and keys are checked all the same.
    """
    if not _is_counting():
        asked.is_counted = False
    answer = _store().check_key(asked, load)
    if answer.seconds_left:
        limit = asked.address.limit if answer.verdict is Verdict.ADDRESS_LIMITED else asked.limit
        REFUSED.labels(limit.name).inc()
    return answer


def forget_keys(secret_hashes: Sequence[str]) -> None:
    """Drop the records of changed keys. LimitsUnavailable: old records may still answer."""
    _store().forget_keys(secret_hashes)
