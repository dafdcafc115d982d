"""What a worker keeps while another one writes: the changes that the store may lack, should that one end.

A worker that takes over knows them all, so what the store holds besides them is the truth already. It can say so at
once, however many members there are, and write everything under its own generation while readers are served.
"""

from __future__ import annotations

from presence.intervals import Intervals
from presence.roster import Changes, Roster
from presence.store import StoreState


class Follower:
    """Of one worker. `now` is a time of the monotonic clock."""

    def __init__(self, roster: Roster, intervals: Intervals) -> None:
        self._roster, self._intervals = roster, intervals
        self._kept = Changes()
        self._is_close = False  # the store and the changes together are the truth
        self._epoch = 0  # the reconcile that the changes are counted from
        self._at = 0.0  # when changes were last forgotten
        self._alive_at: float | None = None  # the newest stamp

    def look(self, state: StoreState, *, epoch: int, now: float) -> None:
        """Forget changes that the leader has written: it stamps now, and they are older than it takes to hear of them.

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
        """This worker writes now: the kept changes are to be written. Whether the store lacks no others.

        A store that has fallen back to an earlier state, or was emptied, shows an older stamp, or none.
        """
        is_close, self._is_close = self._is_close, False
        self._roster.changes.merge(self._kept)
        self._kept = Changes()
        if state.alive_at is None or self._alive_at is None:
            return False
        return is_close and state.alive_at >= self._alive_at
