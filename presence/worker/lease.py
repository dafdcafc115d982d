"""Which of several gateway workers writes: the one whose term runs (`Lease`). The rest follow it (`Follower`).

The lease lies in the store that it guards.
"""

from __future__ import annotations

import logging
import time
from itertools import count

from accounts import jobs
from presence.gateway.roster import Changes, Roster
from presence.intervals import Intervals
from presence.store.store import LEASE_SECONDS, PresenceStore, StoreState, StoreUnavailable

logger = logging.getLogger(__name__)


class Lease:
    """One worker's side of the lease, to be taken or renewed each second. `take` and `renew` raise StoreUnavailable.

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
        """Return whether the term goes on."""
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
        """Return whether the term runs at this time of the monotonic clock, as far as this worker knows.

        For what is done outside the store; the store itself asks its own clock.
        """
        return bool(self.token) and monotonic_now < self._ends_at


class Follower:
    """The changes that a worker keeps while another one writes, which the store may lack once that one ends.

    A worker that takes over knows them all, so what the store holds besides them is up to date already. It can stamp at
    once, however many members there are, and write every record under its own generation while readers are served.
    `now` is a time of the monotonic clock.
    """

    def __init__(self, roster: Roster, intervals: Intervals) -> None:
        self._roster, self._intervals = roster, intervals
        self._kept = Changes()
        self._is_close = False  # the store and the changes together are up to date
        self._epoch = 0  # the reconcile that the changes are counted from
        self._at = 0.0  # when changes were last forgotten
        self._alive_at: float | None = None  # the newest stamp

    def look(self, state: StoreState, *, epoch: int, now: float) -> None:
        """Drop changes that the leader has written: it stamps, and they are older than an event's way to it.

        After a reconcile of our own (`epoch`) nothing is kept: differences of the whole roster are no changes. Then it
        takes one such round until the store is known to be close again.
        """
        is_stamping = state.alive_at is not None and state.alive_at != self._alive_at
        self._alive_at = state.alive_at
        if epoch != self._epoch:
            self._roster.forget_changes()
            self._kept, self._is_close = Changes(), False
        elif is_stamping and now - self._at >= self._intervals.forget:
            self._kept, self._is_close = self._roster.forget_changes(), True
        else:
            return
        self._epoch, self._at = epoch, now

    def take_over(self, state: StoreState) -> bool:
        """Take the kept changes into the roster. Return whether the store lacks no further changes.

        A store that was emptied, or fell back to an earlier state, shows no stamp or an older one.
        """
        is_close, self._is_close = self._is_close, False
        self._roster.changes.merge(self._kept)
        self._kept = Changes()
        if state.alive_at is None or self._alive_at is None:
            return False
        return is_close and state.alive_at >= self._alive_at
