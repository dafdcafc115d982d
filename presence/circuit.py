"""A circuit breaker: after failures an outside server gets no requests for a while."""

from __future__ import annotations

import math
import threading
import time

FAILURES = 5  # in a row
PAUSE = 5.0  # seconds after them, and that the one call has which tries again
LONGEST_PAUSE = 600.0  # seconds, also where the server asks for more


class Circuit:
    """Circuit breaker for one server: after a pause one trial call reopens or closes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    def seconds_left(self) -> int:
        """Return the whole seconds during which no request should be sent; 0 where one may be."""
        left = self._open_until - time.time()
        return math.ceil(left) if 0 < left <= LONGEST_PAUSE else 0  # longer: the clock was set back

    def enter(self) -> int:
        """Return the seconds to wait before a call. After a pause one call is let through, and the rest wait."""
        with self._lock:
            left = self.seconds_left()
            if not left and self._failures >= FAILURES:
                self._open(PAUSE)
            return left

    def succeed(self) -> None:
        with self._lock:
            if self._failures >= FAILURES:
                self._open_until = 0.0
            self._failures = 0

    def fail(self) -> None:
        """Note a missing or unusable answer."""
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._open(PAUSE)

    def pause(self, seconds: float) -> None:
        """Open for so long, as the server's answer demands."""
        with self._lock:
            self._open(seconds)

    def _open(self, seconds: float) -> None:
        self._open_until = max(self._open_until, time.time() + min(seconds, LONGEST_PAUSE))
