"""A circuit breaker: after failures an outside server is left alone for a while."""

from __future__ import annotations

import math
import threading
import time

FAILURES = 5  # in a row
PAUSE = 5.0  # seconds after them, and that the one call has which tries again
LONGEST_PAUSE = 600.0  # seconds, whatever the server asks for


class Circuit:
    """Circuit breaker for one server: after a pause one trial call reopens or closes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    def seconds_left(self) -> int:
        """For how many whole seconds nothing should be asked; 0: ask."""
        left = self._open_until - time.time()
        return math.ceil(left) if 0 < left <= LONGEST_PAUSE else 0  # longer: the clock was set back

    def enter(self) -> int:
        """As `seconds_left`, before a call: after a pause one call is let through, and the others wait."""
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
