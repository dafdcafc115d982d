"""A worker of the web server: it says when it can answer, lies in huge pages, ends its event streams before the grace
period runs out, and ends with its server."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

READY_VARIABLE = "WEB_READY_FD"  # a pipe of the embedded default: the first worker writes to it once it is loaded
STOPS = (signal.SIGTERM, signal.SIGINT)
LOOK_AT_PARENT = 1.0  # seconds
PATIENCE = 10.0  # seconds that answers which are being sent have after the end of the server
MADV_COLLAPSE = 25  # of madvise(2), Linux 6.1


class ShutdownFlag:
    """Set once the process receives SIGTERM or SIGINT. Call one of the two methods that watch, in the main thread."""

    def __init__(self) -> None:
        self._is_set = False
        self._reader: int | None = None  # of a pipe that stays open as long as the process runs

    def is_set(self) -> bool:
        """To be called by one thread only."""
        if self._reader is not None:
            with contextlib.suppress(BlockingIOError):
                self._is_set = not set(STOPS).isdisjoint(os.read(self._reader, 4096)) or self._is_set
        return self._is_set

    def watch_wakeup_pipe(self) -> None:
        """For a server that installs its signal handlers later, as granian does under WSGI: Python writes the number of
        each signal to a pipe, whichever handler runs. Where the process has such a pipe already, the flag is never set.
        """
        reader, writer = os.pipe()
        for end in (reader, writer):
            os.set_blocking(end, False)
        with contextlib.suppress(ValueError):  # not the main thread
            before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
            if before == -1:
                self._reader = reader
                return
            signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)

    def wrap_handlers(self) -> None:
        """For a server that has installed its signal handlers already: set the flag, then call them as before.

        A worker that is still there after PATIENCE prints what its threads do, and ends: all its answers are streams,
        which the flag ends within a second, so its server has stopped waiting for anything real.
        """
        for number in STOPS:
            before = signal.getsignal(number)

            def handle(number: int, frame: FrameType | None, before: object = before) -> None:
                self._is_set = True
                faulthandler.dump_traceback_later(PATIENCE, exit=True)  # by a thread that needs no lock of Python's
                if callable(before):
                    before(number, frame)

            with contextlib.suppress(ValueError):  # not the main thread
                signal.signal(number, handle)


def note_loaded() -> None:
    """Collect garbage from here on, and say that this worker can answer (later ones find the pipe closed)."""
    gc.enable()
    if writer := os.environ.get(READY_VARIABLE):
        with contextlib.suppress(OSError):
            os.write(int(writer), b".")
            os.close(int(writer))


def use_huge_pages() -> None:
    """Move what this process has loaded into huge pages. Older kernels, and systems without them, do nothing.

    A request reads small objects all over the memory; most of the addresses of their pages are forgotten between two
    requests. It copies what the process shares with others, so the embedded default, which forks, does not call it.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, access, _, _, _, *name = line.split()
        if access == "rw-p" and name in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in addresses.split("-"))
            libc.madvise(start, end - start, MADV_COLLAPSE)


def end_streams(*, has_handlers: bool = False) -> None:
    """End event streams on shutdown. `has_handlers`: the server has installed its signal handlers already."""
    from presence.streaming import watching  # servers load this before Django is set up

    flag = ShutdownFlag()
    if has_handlers:
        flag.wrap_handlers()
    else:
        flag.watch_wakeup_pipe()
    watching.hub.is_leaving = flag.is_set


def end_with_parent() -> None:
    """End this worker where its server was killed. Nothing would stop it later: it would go on with the old code, and
    take requests that a new server should have.
    """
    if multiprocessing.parent_process() is not None:
        threading.Thread(target=_watch, args=(os.getppid(),), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_AT_PARENT)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os._exit(1)
