"""Which of several gateway workers writes: the one that holds the lease of the job `run_presence_gateway`."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from django.db import Error as AnyDatabaseError

from accounts import jobs

NAME = "run_presence_gateway"
LENGTH = timedelta(seconds=5)  # after a crash, this long until another worker may write
# How long the holder trusts its last success, in seconds: so much less than LENGTH that a write which began within it
# is over, and clocks of two hosts may differ, before another worker begins.
TRUSTED = 3.5

logger = logging.getLogger(__name__)


class Lease:
    """One worker's side of it, to be renewed each second.

    The worker asks `holds` before each write: a process that was stopped for a while, or is cut off from the database,
    finds by its own clock that it may not write.
    """

    def __init__(self) -> None:
        self.holder = jobs.new_holder()
        self._lease: jobs.Lease | None = None
        self._trusted_until = 0.0  # by the monotonic clock
        self._is_answered = True

    def take(self) -> bool:
        """Whether this worker holds it now, newly or still."""
        if self._lease is not None:
            return self.renew()
        begun = time.monotonic()
        try:
            self._lease = jobs.take(name=NAME, length=LENGTH, by=self.holder)
        except AnyDatabaseError as error:
            self._doubt(error)
        else:
            self._trust()
        self._trusted_until = begun + TRUSTED
        return self._lease is not None

    def renew(self) -> bool:
        """Whether this worker still holds it. False too where the database does not say; how long its last word counts
        is for `holds`."""
        lease = self._lease  # another thread may give it back meanwhile
        if lease is None:
            return False
        begun = time.monotonic()
        try:
            jobs.renew(lease=lease, length=LENGTH)
        except jobs.LeaseLost as lost:
            self._trust()
            logger.warning("%s", lost)
            self._lease = None
            return False
        except AnyDatabaseError as error:
            self._doubt(error)
            return False
        self._trust()
        self._trusted_until = begun + TRUSTED
        return True

    def release(self) -> None:
        """Give it back, so that another worker may take it at once. Nothing where it is not held."""
        lease, self._lease = self._lease, None
        if lease is None:
            return
        try:
            jobs.succeed(lease=lease, message="Gave the writing back.")
        except jobs.LeaseLost as lost:
            logger.info("%s", lost)
        except AnyDatabaseError as error:
            self._doubt(error)

    def holds(self, monotonic_now: float) -> bool:
        """Whether this worker may write at this moment of the monotonic clock."""
        return self._lease is not None and monotonic_now < self._trusted_until

    def _trust(self) -> None:
        """The database answers."""
        if not self._is_answered:
            logger.warning("The lease of the presence worker is certain again.")
        self._is_answered = True

    def _doubt(self, error: BaseException) -> None:
        """Told once, until the database answers: the worker asks each second."""
        if self._is_answered:
            logger.warning("The lease of the presence worker is uncertain: %s", jobs.described(error))
        self._is_answered = False
        jobs.let_go_of_connections()
