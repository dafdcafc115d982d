"""Threads that write what requests note in memory: within seconds, and when the process ends."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from multiprocessing.util import Finalize

from django.conf import settings
from django.db import connection

logger = logging.getLogger(__name__)

INTERVAL = 2.0  # seconds from the first note to the write


class BackgroundWriter:
    """Calls `write` on a thread named `name`, INTERVAL seconds after `wake`, and once when the process ends orderly.

    `write` logs what fails and keeps what a later call can write. A forked process needs a new BackgroundWriter.
    """

    def __init__(self, name: str, write: Callable[[], None]) -> None:
        self._name = name
        self._write = write
        self._lock = threading.Lock()
        self._is_due = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """There is something to write."""
        if self._is_due.is_set() or not settings.WRITE_NOTES_IN_BACKGROUND:
            return
        with self._lock:
            if self._thread is None:
                self._start()
        self._is_due.set()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()
        # A server's worker is a child of multiprocessing, which runs this and no atexit function.
        Finalize(None, self._write_logged, exitpriority=0)

    def _run(self) -> None:
        while True:
            self._is_due.wait()
            time.sleep(INTERVAL)
            self._is_due.clear()
            self._write_logged()
            connection.close()  # this thread's own

    def _write_logged(self) -> None:
        try:
            self._write()
        except Exception:  # the thread goes on
            logger.exception("The notes of %s could not be written.", self._name)
