"""Fixed-window request limits: the first request opens a window, refused requests neither extend it nor count.

`hit()` is one round trip to the store however many limits apply, and so is `check_key()`, which looks at an API key
too, once the key's record is cached.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from accounts.kept_settings import from_settings
from accounts.key_records import KeyRecord, Verdict, microseconds

if TYPE_CHECKING:
    from accounts.redis_connection import Command, Reply

MINUTE = timedelta(minutes=1)
RECORD_LIFETIME = timedelta(seconds=60)  # how long a key's record is cached
# How long no record of a changed key is cached: longer than a reader that read it before the change may dawdle.
PAUSE_AFTER_CHANGE = timedelta(seconds=10)
REFUSALS = (Verdict.ADDRESS_LIMITED, Verdict.KEY_LIMITED)  # in the order in which the limits of a request are looked at


@dataclass(slots=True)
class Limit:
    """At most `amount` requests that share `name` in a window."""

    name: str
    amount: int
    window: timedelta = MINUTE


@dataclass(frozen=True)
class Outcome:
    """What one limit said. `remaining` requests are left; the window ends in `seconds_left` (whole, at least 1)."""

    limit: Limit
    is_allowed: bool
    remaining: int
    seconds_left: int


@dataclass(slots=True)
class KeyRequest:
    """A request that brings a key. `amount` a minute pass with it, `premium_amount` while its owner has premium.

    `is_counted` False: no limit counts or refuses it. `beside`: a command of Redis, which a store that counts there
    sends along to save a round trip. `instant`: `now` in microseconds since 1970.
    """

    address: Limit
    secret_hash: str
    permission: str
    amount: int
    premium_amount: int
    now: datetime
    is_counted: bool = True
    beside: Command | None = None
    instant: int = field(init=False)

    def __post_init__(self) -> None:
        self.instant = microseconds(self.now)

    def verdict(self, record: KeyRecord | None) -> Verdict:
        """What is wrong with the key of this record, limits aside."""
        return Verdict.UNKNOWN if record is None else record.verdict(self.permission, self.instant)

    def limit(self, record: KeyRecord) -> Limit:
        """Of the key."""
        return Limit(f"key:{self.secret_hash}", self.premium_amount if record.is_premium(self.instant) else self.amount)


@dataclass(slots=True)
class KeyAnswer:
    """How the check of a key ended. `record`: of a known key, unless a limit refuses the request.

    `seconds_left`: until the window that refuses the request ends, as in Outcome; 0 where none does. `reply`: what
    Redis answers to the command `beside`; None where no Redis was asked.
    """

    verdict: Verdict
    record: KeyRecord | None = None
    seconds_left: int = 0
    reply: Reply = None


LoadKey = Callable[[str], KeyRecord | None]  # by the SHA-256 of its secret, from the database


class LimitsUnavailable(Exception):
    """The store does not answer: nobody can say whether a request is within its limit."""


class LimitStore(Protocol):
    """Counts requests. All limits of a call are taken together, or, where one is used up, none.

    `check_key` takes the address's limit first, whatever the key; a key that is refused for itself counts for the
    address, one that is over its own limit for neither. It may answer from a record as old as RECORD_LIFETIME, but not
    from one older than the key's last `forget_keys`.
    """

    def hit(self, limits: Sequence[Limit]) -> list[Outcome]: ...

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer: ...

    def forget_keys(self, secret_hashes: Sequence[str]) -> None: ...


class InProcessLimits:
    """For one process: the embedded default."""

    PRUNE_ABOVE = 10_000

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}  # name: when the window ends, requests in it
        self._lock = threading.Lock()

    def hit(self, limits: Sequence[Limit]) -> list[Outcome]:
        now = time.time()
        before, is_allowed = self._count(limits, now)
        return [outcome_of(limit, count, ends_at - now, is_counted=is_allowed) for limit, ends_at, count in before]

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer:
        """Nothing is cached: the database is this process's neighbour, and other processes may write to it."""
        if asked.is_counted and (over := self._refusal(asked.address)):  # an address that hammers reaches no database
            return KeyAnswer(Verdict.ADDRESS_LIMITED, seconds_left=over.seconds_left)
        record = load(asked.secret_hash)
        verdict = asked.verdict(record)
        if not asked.is_counted:
            return KeyAnswer(verdict, record)
        limits = [asked.address]
        if record is not None and verdict is Verdict.OK:
            limits.append(asked.limit(record))
        now = time.time()
        before, _ = self._count(limits, now)
        for (limit, ends_at, count), refused in zip(before, REFUSALS, strict=False):
            if count >= limit.amount:
                return KeyAnswer(refused, seconds_left=whole(ends_at - now))
        return KeyAnswer(verdict, record)

    def forget_keys(self, secret_hashes: Sequence[str]) -> None:
        """Nothing was kept."""

    def _count(self, limits: Sequence[Limit], now: float) -> tuple[list[tuple[Limit, float, int]], bool]:
        """Count a request; the window of each limit before it, its end and its requests, and whether it counts."""
        with self._lock:
            if len(self._windows) > self.PRUNE_ABOVE:
                self._windows = {name: window for name, window in self._windows.items() if window[0] > now}
            before = [(limit, *self._window(limit, now)) for limit in limits]
            is_allowed = all(count < limit.amount for limit, _, count in before)
            if is_allowed:
                for limit, ends_at, count in before:
                    self._windows[limit.name] = (ends_at, count + 1)
        return before, is_allowed

    def _refusal(self, limit: Limit) -> Outcome | None:
        now = time.time()
        with self._lock:
            ends_at, count = self._window(limit, now)
        return outcome_of(limit, count, ends_at - now, is_counted=False) if count >= limit.amount else None

    def _window(self, limit: Limit, now: float) -> tuple[float, int]:
        ends_at, count = self._windows.get(limit.name, (0.0, 0))
        return (ends_at, count) if ends_at > now else (now + limit.window.total_seconds(), 0)


def outcome_of(limit: Limit, count_before: int, seconds_left: float, *, is_counted: bool) -> Outcome:
    """What a store says of a limit; `is_counted`: the request counts, for it was refused by none."""
    return Outcome(
        limit=limit,
        is_allowed=count_before < limit.amount,
        remaining=max(limit.amount - count_before - (1 if is_counted else 0), 0),
        seconds_left=whole(seconds_left),
    )


def whole(seconds: float) -> int:
    """As Outcome has it."""
    return max(math.ceil(seconds), 1)


@functools.cache
def _store() -> LimitStore:
    store: LimitStore = import_string(settings.LIMIT_STORE)()
    return store


def hit(*limits: Limit) -> list[Outcome]:
    """Count one request against `limits`, in order. With RATE_LIMITS_ENABLED=0 nothing is counted.

    LimitsUnavailable: answer 503; letting everybody through would be an invitation to stop the store.
    """
    return take(*limits) if _is_counting() else []


@from_settings
def _is_counting() -> bool:
    return settings.RATE_LIMITS_ENABLED


def take(*limits: Limit) -> list[Outcome]:
    """The same for what we ask of others, and whatever RATE_LIMITS_ENABLED says: their limits are not ours to lift."""
    return _store().hit(limits)


def check_key(asked: KeyRequest, load: LoadKey) -> KeyAnswer:
    """Count a request that brings a key, and say what is wrong with it. LimitsUnavailable as `hit`.

    With RATE_LIMITS_ENABLED=0 nothing is counted, and keys are checked all the same.
    """
    if not _is_counting():
        asked.is_counted = False
    return _store().check_key(asked, load)


def forget_keys(secret_hashes: Sequence[str]) -> None:
    """The keys of these secrets, or their owners, have changed. LimitsUnavailable: old records may still answer."""
    _store().forget_keys(secret_hashes)
