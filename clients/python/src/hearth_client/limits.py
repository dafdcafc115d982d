"""When the next request may be sent: `RateLimit`, `Retry-After`, and the bound on all waits of one call."""

from __future__ import annotations

import email.utils
import math
import re
import threading
import time
from dataclasses import dataclass

from hearth_client.errors import WaitTooLongError

KEY = "key"  # the policy of which a request for many may take several
LONGEST_HEADER = 1024  # characters; a longer one is ignored
_ITEM = re.compile(r'"([^"]{1,64})"((?:\s*;\s*[a-z]{1,16}=\d{1,9})*)')
_PARAMETER = re.compile(r"([a-z]{1,16})=(\d{1,9})")


def read_budgets(header: str) -> dict[str, tuple[int, int]]:
    """Return the requests left and the seconds until the window ends, by policy: RateLimit of draft-ietf-httpapi-10."""
    found = {}
    for name, rest in _ITEM.findall(header[:LONGEST_HEADER]):
        parameters = {key: int(value) for key, value in _PARAMETER.findall(rest)}
        if "r" in parameters and "t" in parameters:
            found[name] = (parameters["r"], parameters["t"])
    return found


def read_retry_after(header: str | None) -> int | None:
    """Return the seconds of Retry-After, a number or a date (RFC 9110 §10.2.3), or None."""
    text = (header or "").strip()[:64]
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0, math.ceil(at.timestamp() - time.time()))


@dataclass
class Wait:
    """What one call may still wait, in seconds."""

    left: float

    def spend(self, seconds: float) -> None:
        """Sleep. Raises WaitTooLongError where less is left."""
        if seconds > self.left:
            raise WaitTooLongError(math.ceil(seconds))
        self.left -= seconds
        time.sleep(seconds)


@dataclass
class _Budget:
    remaining: int
    resets_at: float  # of time.monotonic()


class Budgets:
    """The requests that the service's limits have left, shared by the threads of a client."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_policy: dict[str, _Budget] = {}

    def take(self, wait: Wait, cost: int) -> None:
        """Count a request that counts as `cost` of the key, after a wait where a policy has less left.

        Raises WaitTooLongError.
        """
        while seconds := self._try(cost):
            wait.spend(seconds)

    def note(self, header: str | None) -> None:
        """Take over what an answer says.

        Requests that are under way may not be counted in it, so that within a window the smaller number holds.
        """
        now = time.monotonic()
        with self._lock:
            for name, (remaining, seconds) in read_budgets(header or "").items():
                said, known = _Budget(remaining, now + seconds), self._by_policy.get(name)
                if known and abs(known.resets_at - said.resets_at) < 2:
                    said.remaining = min(known.remaining, said.remaining)
                    said.resets_at = max(known.resets_at, said.resets_at)
                self._by_policy[name] = said

    def _try(self, cost: int) -> float:
        """Count a request and return 0, or return the seconds until the first moment that may allow one."""
        now = time.monotonic()
        with self._lock:
            self._by_policy = {name: one for name, one in self._by_policy.items() if one.resets_at > now}
            costs = {name: cost if name == KEY else 1 for name in self._by_policy}
            if spent := [one.resets_at - now for name, one in self._by_policy.items() if one.remaining < costs[name]]:
                return max(spent)
            for name, budget in self._by_policy.items():
                budget.remaining -= costs[name]
            return 0
