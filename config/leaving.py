"""Whether the server was asked to stop: answers that would go on for long end then, so that nobody has to kill it."""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

STOPS = (signal.SIGTERM, signal.SIGINT)


class Wish:
    """That the process ends. Listen to it once, by the way that the server leaves open; in the main thread alone."""

    def __init__(self) -> None:
        self._is_heard = False
        self._reader: int | None = None  # of a pipe that lives as long as the process

    def is_heard(self) -> bool:
        """For one thread to ask."""
        if self._reader is not None:
            with contextlib.suppress(BlockingIOError):
                self._is_heard = not set(STOPS).isdisjoint(os.read(self._reader, 4096)) or self._is_heard
        return self._is_heard

    def listen_beside(self) -> None:
        """For a server that sets its handlers of signals later on, as granian does under WSGI: Python itself notes each
        signal in a pipe, whoever handles it. Where somebody else uses that already, nothing is heard.
        """
        reader, writer = os.pipe()
        for end in (reader, writer):
            os.set_blocking(end, False)
        with contextlib.suppress(ValueError):  # no main thread
            before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
            if before == -1:
                self._reader = reader
                return
            signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)

    def listen_before(self) -> None:
        """For a server that has set its handlers: they are called as before."""
        for number in STOPS:
            before = signal.getsignal(number)

            def hear(number: int, frame: FrameType | None, before: object = before) -> None:
                self._is_heard = True
                if callable(before):
                    before(number, frame)

            with contextlib.suppress(ValueError):  # no main thread
                signal.signal(number, hear)


def tell_streams(*, has_handlers: bool = False) -> None:
    """Event streams end when the server is asked to stop. `has_handlers`: the server has set its own already."""
    from presence import watching  # servers load this before Django is set up

    wish = Wish()
    if has_handlers:
        wish.listen_before()
    else:
        wish.listen_beside()
    watching.hub.is_leaving = wish.is_heard
