"""Lets a main loop wait for signals of the operating system."""

from __future__ import annotations

import contextlib
import select
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType


@dataclass(frozen=True)
class SignalWaiter:
    """Keeps the numbers of the signals that came in."""

    _reader: socket.socket

    def wait(self, seconds: float | None) -> set[int]:
        """Return the signals since the last call; where there are none, wait for one at most so long (None: no end)."""
        select.select([self._reader], [], [], seconds)
        try:
            return set(self._reader.recv(4096))
        except BlockingIOError:
            return set()


@contextlib.contextmanager
def opened(*numbers: signal.Signals, note: Callable[[int], None] | None = None) -> Iterator[SignalWaiter]:
    """Deliver these signals only to the waiter, and to `note` between two steps of the program. Main thread only.

    Python writes to the wake-up socket in the signal's own handler, so that none is lost.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if note is not None:
            note(number)

    reader, writer = socket.socketpair()
    with reader, writer:
        for end in (reader, writer):
            end.setblocking(False)  # noqa: FBT003 - the socket takes it so
        before = {number: signal.getsignal(number) for number in numbers}
        wake_up = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            for number in numbers:
                signal.signal(number, handle)
            yield SignalWaiter(reader)
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
            signal.set_wakeup_fd(wake_up)
