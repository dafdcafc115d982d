"""The limits of one process, for the embedded default."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence

from infrastructure.limits import REFUSALS, KeyAnswer, KeyRequest, Left, LoadKey, Verdict, Window


class InProcessLimits:
    """A `limits.LimitStore`."""

    PRUNE_ABOVE = 10_000

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: in seconds. A window must not last for a day longer where the machine's time is corrected."""
        self._windows: dict[str, tuple[float, int]] = {}  # key: when the window ends, requests in it
        self._clock = clock
        self._prune_at = self.PRUNE_ABOVE
        self._lock = threading.Lock()

    def hit(self, windows: Sequence[Window]) -> int:
        return self._count([(window, 1) for window in windows])[1]

    def peek(self, window: Window) -> int:
        now = self._clock()
        with self._lock:
            ends_at, count = self._window(window, now)
        left = window.left = Left.of(window.limit, count, math.ceil((ends_at - now) * 1000))
        return 0 if left.requests else left.seconds

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer:
        """Nothing is cached: the database is on this machine, and other processes may write to it."""
        # An address that is over its limit causes no query.
        if asked.is_counted and (seconds_left := self.peek(asked.address)):
            return KeyAnswer(Verdict.ADDRESS_LIMITED, seconds_left=seconds_left)
        record = load(asked.secret_hash)
        verdict = asked.verdict(record)
        if not asked.is_counted:
            return KeyAnswer(verdict, record)
        windows = [(asked.address, 1)]
        if record is not None and verdict is Verdict.OK:
            windows.append((Window(f"key:{asked.secret_hash}", asked.limit_of(record)), asked.cost))
        used_up, seconds_left = self._count(windows)
        asked.left = windows[1][0].left if len(windows) > 1 else None
        if seconds_left:
            return KeyAnswer(REFUSALS[used_up], seconds_left=seconds_left)
        return KeyAnswer(verdict, record)

    def forget_keys(self, secret_hashes: Sequence[str]) -> None:
        """Does nothing, as no record is cached."""

    def _count(self, windows: Sequence[tuple[Window, int]]) -> tuple[int, int]:
        """Count a request by its cost in each window, unless one has less left: its place and its seconds, else 0."""
        now = self._clock()
        with self._lock:
            if len(self._windows) > self._prune_at:
                self._prune(now)
            before = [self._window(window, now) for window, _ in windows]
            for number, ((window, cost), (ends_at, count)) in enumerate(zip(windows, before, strict=True)):
                left = window.left = Left.of(window.limit, count, math.ceil((ends_at - now) * 1000))
                if count + cost > window.limit.amount:
                    return number, left.seconds
            for (window, cost), (ends_at, count) in zip(windows, before, strict=True):
                self._windows[window.key] = (ends_at, count + cost)
                window.left = Left.of(window.limit, count + cost, math.ceil((ends_at - now) * 1000))
        return 0, 0

    def _prune(self, now: float) -> None:
        """Forget windows that ended; do it again once there are twice as many, as it takes long with many."""
        self._windows = {key: window for key, window in self._windows.items() if window[0] > now}
        self._prune_at = max(self.PRUNE_ABOVE, 2 * len(self._windows))

    def _window(self, window: Window, now: float) -> tuple[float, int]:
        ends_at, count = self._windows.get(window.key, (0.0, 0))
        return (ends_at, count) if ends_at > now else (now + window.limit.seconds, 0)
