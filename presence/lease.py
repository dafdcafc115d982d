"""Which of several gateway workers writes: the one whose term runs. The lease lies in the store that it guards."""

from __future__ import annotations

import logging
import time
from itertools import count

from accounts import jobs
from presence.checked_cache import LEASE_SECONDS
from presence.store import PresenceStore, StoreUnavailable

logger = logging.getLogger(__name__)


class Lease:
    """One worker's side of it, to be taken or renewed each second. `take` and `renew` raise StoreUnavailable.

    Each term has a token of its own, which the store compares at each write: a write of a term that is over is refused
    there, however late it arrives. `token`: of the term that runs, as far as this worker knows; "" for none.
    """

    def __init__(self, store: PresenceStore) -> None:
        self.holder = jobs.new_holder()
        self.token = ""
        self._store = store
        self._terms = count(1)
        self._ends_at = 0.0  # by the monotonic clock, and never after the store's own end

    def take(self) -> bool:
        """Go on with the term, or begin one where the lease is free. Whether this worker holds the lease now."""
        if self.token and self.renew():
            return True
        token, begun = f"{self.holder} {next(self._terms)}", time.monotonic()
        if not self._store.take_lease(token):
            return False
        self.token, self._ends_at = token, begun + LEASE_SECONDS
        return True

    def renew(self) -> bool:
        """Whether the term goes on."""
        token, begun = self.token, time.monotonic()
        if not token:
            return False
        if self._store.renew_lease(token):
            self._ends_at = begun + LEASE_SECONDS
            return True
        self.lose(token)
        return False

    def lose(self, token: str) -> None:
        """Note that the store refused this term."""
        if token and token == self.token:
            logger.warning("The term of this presence worker is over.")
            self.token = ""

    def release(self) -> None:
        """End the term, so that another worker may begin one at once."""
        token, self.token = self.token, ""
        try:
            if token:
                self._store.release_lease(token)
        except StoreUnavailable as error:
            logger.warning("The lease of the presence worker ends by itself: %s", error)

    def holds(self, monotonic_now: float) -> bool:
        """Whether the term runs at this time of the monotonic clock, as far as this worker knows.

        For what is done outside the store; the store itself asks its own clock.
        """
        return bool(self.token) and monotonic_now < self._ends_at
