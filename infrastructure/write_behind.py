"""Notes that requests keep in memory and a thread writes to the database within seconds.

Noting costs a request no query. Each process writes its own notes: INTERVAL seconds after the first one, when a caller
asks for it, and when the process ends in good order. A process that is killed loses what it has not written.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.util import Finalize
from typing import Generic, TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)

INTERVAL = 2.0  # seconds from the first note to the write
Note = TypeVar("Note")


class WriteBehindBuffer(Generic[Note]):
    """Holds the notes of this process until `store` writes them, in the order in which they came.

    While the database is away the notes wait. `merge` then makes few of many, so that they need little memory;
    without it, at most `limit` are kept and more are dropped, which the log says. `interval`: instead of
    INTERVAL.
    """

    def __init__(
        self,
        name: str,
        store: Callable[[list[Note]], None],
        *,
        limit: int | None = None,
        merge: Callable[[list[Note]], list[Note]] | None = None,
        interval: float = INTERVAL,
    ) -> None:
        self._name = name
        self._store = store
        self._limit = limit
        self._merge = merge
        self._interval = interval
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Start empty. A forked process has no thread, its locks may be held by one that it lacks, and the process that
        made the notes writes them."""
        self._notes: deque[Note] = deque()
        self._dropped = 0
        self._has_failed = False
        self._writing = threading.Lock()
        self._starting = threading.Lock()
        self._is_due = threading.Event()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._notes)

    def note(self, note: Note) -> None:
        """Keep the note for the next write. Takes no lock, since each request may call it."""
        if self._limit is not None and len(self._notes) >= self._limit:
            self._dropped += 1
            return
        self._notes.append(note)
        if not self._is_due.is_set():
            self._wake()

    def write(self) -> None:
        """Store the notes of this process; a second caller waits until the first has stored them. Errors of the
        database are logged: where it is away the notes stay for the next write, else they are dropped."""
        with self._writing:
            notes = self._take()
            if not notes:
                return
            try:
                self._store(notes)
            except (OperationalError, InterfaceError):
                logger.exception("%s notes of %s could not be written yet.", len(notes), self._name)
                self._put_back(notes)
            except DatabaseError:
                logger.exception("%s notes of %s could not be written.", len(notes), self._name)

    def clear(self) -> None:
        """Drop what is not written, for tests."""
        self._take()

    def _take(self) -> list[Note]:
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            logger.warning("%s notes of %s were dropped: more than %s at once.", dropped, self._name, self._limit)
        return [self._notes.popleft() for _ in range(len(self._notes))]

    def _put_back(self, notes: list[Note]) -> None:
        if self._merge is not None:
            notes = self._merge(notes)
        if self._limit is not None:
            room = max(self._limit - len(self._notes), 0)
            self._dropped += len(notes[room:])
            notes = notes[:room]
        self._notes.extendleft(reversed(notes))
        self._wake()

    def _wake(self) -> None:
        if not settings.WRITE_NOTES_IN_BACKGROUND:
            return
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
                # A server's worker is a child of multiprocessing, which runs this and no atexit function.
                Finalize(None, self._write_logged, exitpriority=0)
        self._is_due.set()

    def _run(self) -> None:
        while True:
            self._is_due.wait()
            time.sleep(self._interval)
            self._is_due.clear()
            self._write_logged()
            connection.close()  # this thread's own

    def _write_logged(self) -> None:
        """Write, and log once what fails again and again, as on a full disk."""
        try:
            self.write()
        except Exception:  # the thread goes on
            if not self._has_failed:
                logger.exception("The notes of %s could not be written.", self._name)
            self._has_failed = True
        else:
            self._has_failed = False
