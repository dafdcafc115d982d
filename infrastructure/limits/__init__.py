"""Rate limits: the counting of requests and API keys against the rows of a table.

Windows are fixed: the first request opens one, and refused requests neither extend it nor count. `hit()` is one round
trip to the store however many limits apply; so is `check_key()`, which reads an API key too, once its record is cached.
"""

from __future__ import annotations

import enum
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol, Self

from django.conf import settings
from django.utils.module_loading import import_string
from prometheus_client import Counter

from infrastructure.once import once
from infrastructure.settings_cache import from_settings
from infrastructure.timestamps import EPOCH, MICROSECOND, MILLISECOND

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
RECORD_LIFETIME = timedelta(seconds=60)  # how long a key's record is cached
# How long no record of a changed key is cached: longer than a reader that read it before the change may take.
PAUSE_AFTER_CHANGE = timedelta(seconds=10)
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

    def of(self, subject: str = "") -> Window:
        """The window of one address, key, user or the like."""
        return Window(f"{self.name}:{subject}", self)


@dataclass(slots=True)
class Window:
    """The window in which a request counts. `key` names it in the store."""

    key: str
    limit: Limit


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

    `premium_limit`: where the owner of the key has premium. `is_counted` False: no limit counts or refuses it.
    `instant`: `now` in microseconds since 1970.
    """

    address: Window
    secret_hash: str
    permission: str
    now: datetime
    limit: Limit
    premium_limit: Limit
    is_counted: bool = True
    instant: int = field(init=False)

    def __post_init__(self) -> None:
        self.instant = microseconds(self.now)

    def verdict(self, record: KeyRecord | None) -> Verdict:
        """Return the verdict on the key of this record, limits aside."""
        return Verdict.UNKNOWN if record is None else record.verdict(self.permission, self.instant)

    def window(self, record: KeyRecord) -> Window:
        """Return the key's window."""
        return Window(f"key:{self.secret_hash}", self.premium_limit if record.is_premium(self.instant) else self.limit)


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
    address, one that is over its own limit for neither. It may answer from a record as old as RECORD_LIFETIME, but not
    from one older than the key's last `forget_keys`.
    """

    def hit(self, windows: Sequence[Window]) -> int: ...

    def peek(self, window: Window) -> int: ...

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer: ...

    def forget_keys(self, secret_hashes: Sequence[str]) -> None: ...


class InProcessLimits:
    """For one process: the embedded default."""

    PRUNE_ABOVE = 10_000

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}  # key: when the window ends, requests in it
        self._lock = threading.Lock()

    def hit(self, windows: Sequence[Window]) -> int:
        return self._count(windows)[1]

    def peek(self, window: Window) -> int:
        now = time.time()
        with self._lock:
            ends_at, count = self._window(window, now)
        return whole(ends_at - now) if count >= window.limit.amount else 0

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer:
        """Nothing is cached: the database is on this machine, and other processes may write to it."""
        # An address that is over its limit causes no query.
        if asked.is_counted and (seconds_left := self.peek(asked.address)):
            return KeyAnswer(Verdict.ADDRESS_LIMITED, seconds_left=seconds_left)
        record = load(asked.secret_hash)
        verdict = asked.verdict(record)
        if not asked.is_counted:
            return KeyAnswer(verdict, record)
        windows = [asked.address]
        if record is not None and verdict is Verdict.OK:
            windows.append(asked.window(record))
        used_up, seconds_left = self._count(windows)
        if seconds_left:
            return KeyAnswer(REFUSALS[used_up], seconds_left=seconds_left)
        return KeyAnswer(verdict, record)

    def forget_keys(self, secret_hashes: Sequence[str]) -> None:
        """Does nothing, as no record is cached."""

    def _count(self, windows: Sequence[Window]) -> tuple[int, int]:
        """Count a request, unless a window is used up: the place of the first such window and its seconds, else 0."""
        now = time.time()
        with self._lock:
            if len(self._windows) > self.PRUNE_ABOVE:
                self._windows = {key: window for key, window in self._windows.items() if window[0] > now}
            before = [self._window(window, now) for window in windows]
            for number, (window, (ends_at, count)) in enumerate(zip(windows, before, strict=True)):
                if count >= window.limit.amount:
                    return number, whole(ends_at - now)
            for window, (ends_at, count) in zip(windows, before, strict=True):
                self._windows[window.key] = (ends_at, count + 1)
        return 0, 0

    def _window(self, window: Window, now: float) -> tuple[float, int]:
        ends_at, count = self._windows.get(window.key, (0.0, 0))
        return (ends_at, count) if ends_at > now else (now + window.limit.seconds, 0)


def whole(seconds: float) -> int:
    """Seconds as answers name them: whole, and at least 1."""
    return max(math.ceil(seconds), 1)


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
