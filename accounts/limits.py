"""Fixed-window request limits: the first request opens a window, refused requests neither extend it nor count.

`hit()` is one round trip to the store however many limits apply.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string
from redis.exceptions import RedisError

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
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


class LimitsUnavailable(Exception):
    """The store does not answer: nobody can say whether a request is within its limit."""


class LimitStore(Protocol):
    """Counts requests. All limits of a call are taken together, or, where one is used up, none."""

    def hit(self, limits: Sequence[Limit]) -> list[Outcome]: ...


class InProcessLimits:
    """For one process: the embedded default."""

    PRUNE_ABOVE = 10_000

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}  # name: when the window ends, requests in it
        self._lock = threading.Lock()

    def hit(self, limits: Sequence[Limit]) -> list[Outcome]:
        now = time.time()
        with self._lock:
            if len(self._windows) > self.PRUNE_ABOVE:
                self._windows = {name: window for name, window in self._windows.items() if window[0] > now}
            counted = [(limit, *self._window(limit, now)) for limit in limits]
            is_allowed = all(count < limit.amount for limit, _, count in counted)
            if is_allowed:
                for limit, ends_at, count in counted:
                    self._windows[limit.name] = (ends_at, count + 1)
        return [_outcome(limit, count, ends_at - now, is_counted=is_allowed) for limit, ends_at, count in counted]

    def _window(self, limit: Limit, now: float) -> tuple[float, int]:
        ends_at, count = self._windows.get(limit.name, (0.0, 0))
        return (ends_at, count) if ends_at > now else (now + limit.window.total_seconds(), 0)


class RedisLimits:
    """For any number of processes: one script, so two requests never read the same count."""

    SCRIPT = """
    local counts, allowed = {}, 1
    for i, key in ipairs(KEYS) do
        counts[i] = tonumber(redis.call('GET', key) or '0')
        if counts[i] >= tonumber(ARGV[2 * i - 1]) then allowed = 0 end
    end
    local answer = {allowed}
    for i, key in ipairs(KEYS) do
        if allowed == 1 and redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[2 * i]) end
        answer[2 * i] = counts[i]
        local left = redis.call('PTTL', key)
        answer[2 * i + 1] = left >= 0 and left or tonumber(ARGV[2 * i])
    end
    return answer
    """

    def __init__(self) -> None:
        from django_redis import get_redis_connection  # only where Redis is configured

        self._script = get_redis_connection("default").register_script(self.SCRIPT)

    def hit(self, limits: Sequence[Limit]) -> list[Outcome]:
        # One hash tag for all: a script may only touch keys of one slot of a Redis Cluster.
        keys = [f"{{limit}}:{limit.name}" for limit in limits]
        arguments = [part for limit in limits for part in (limit.amount, int(limit.window.total_seconds() * 1000))]
        try:
            is_allowed, *answers = self._script(keys=keys, args=arguments)
        except RedisError as error:
            raise LimitsUnavailable from error
        return [
            _outcome(limit, answers[2 * index], answers[2 * index + 1] / 1000, is_counted=bool(is_allowed))
            for index, limit in enumerate(limits)
        ]


def _outcome(limit: Limit, count_before: int, seconds_left: float, *, is_counted: bool) -> Outcome:
    return Outcome(
        limit=limit,
        is_allowed=count_before < limit.amount,
        remaining=max(limit.amount - count_before - (1 if is_counted else 0), 0),
        seconds_left=max(math.ceil(seconds_left), 1),
    )


@functools.cache
def _store() -> LimitStore:
    store: LimitStore = import_string(settings.LIMIT_STORE)()
    return store


def hit(*limits: Limit) -> list[Outcome]:
    """Count one request against `limits`, in order. With RATE_LIMITS_ENABLED=0 nothing is counted.

    LimitsUnavailable: answer 503; letting everybody through would be an invitation to stop the store.
    """
    if not settings.RATE_LIMITS_ENABLED:
        return []
    return _store().hit(limits)
