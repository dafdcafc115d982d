"""Notes what apps ask of the provider, for the people who debug them: in memory first, written a moment later.

A note costs its request no query. Each process writes its own, in one transaction for many, by a thread at most
WRITTEN_EVERY seconds later, and where a page calls `write()` before it reads. Client ids are public, so a stranger can
make entries: memory is bounded, and of one app a batch stores at most MOST_RECORDS; what is over is counted still.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.util import Finalize

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.utils import timezone

from accounts import client_address
from oidc_provider import request_records
from oidc_provider.models.request_log import OK, RequestKind

WRITTEN_EVERY = 2.0  # seconds
MOST_NOTES = 10_000  # in memory

logger = logging.getLogger(__name__)


@dataclass
class Note:
    """One request while it is served. Nothing is noted without a `client_id`; `outcome` is `ok` or the error's code."""

    kind: RequestKind
    request_id: str
    client_id: str = ""
    user_id: str = ""
    outcome: str = ""
    description: str = ""
    redirect_uri: str = ""
    moment: datetime = field(default_factory=timezone.now)
    address: str = field(default_factory=client_address.current.get)

    def fails(self, error: str, description: str) -> None:
        self.outcome, self.description = error, description

    def leave_out(self) -> None:
        """Nothing worth a record has happened."""
        self.client_id = ""


_current: ContextVar[Note | None] = ContextVar("request_note", default=None)


@contextlib.contextmanager
def noting(kind: RequestKind) -> Iterator[Note]:
    """The note of the request that is served inside; kept at the end. An exception that escapes is a server_error."""
    note = Note(kind, secrets.token_hex(8))
    token = _current.set(note)
    try:
        yield note
        note.outcome = note.outcome or OK
    finally:
        _current.reset(token)
        note.outcome = note.outcome or "server_error"
        if note.client_id:
            _memory.keep(note)


def about(*, kind: RequestKind | None = None, client_id: str = "", user_id: str = "") -> None:
    """Say what the request is about, as soon as it is known. Outside a request: nothing."""
    note = _current.get()
    if note is not None:
        note.kind = kind or note.kind
        note.client_id = client_id or note.client_id
        note.user_id = user_id or note.user_id


def failed(error: str, description: str, *, redirect_uri: str = "") -> None:
    """Say that the request that is served ends with an error. `redirect_uri`: where the error is about it."""
    note = _current.get()
    if note is not None:
        note.fails(error, description)
        note.redirect_uri = redirect_uri


def request_id() -> str:
    """Of the request that is served; empty where none is noted."""
    note = _current.get()
    return note.request_id if note is not None else ""


def write() -> None:
    """Store what this process has noted so far; a page calls it before it reads. What cannot be stored is logged."""
    with _memory.writing:
        notes, lost = _memory.take()
        if lost:
            logger.warning("%s requests of apps were not noted: there were too many at once.", lost)
        if not notes:
            return
        try:
            request_records.store(notes)
        except (OperationalError, InterfaceError):  # a database that is away; the next time finds them still here
            logger.exception("The notes of %s requests could not be written yet.", len(notes))
            _memory.put_back(notes)
        except DatabaseError:
            logger.exception("The notes of %s requests could not be written.", len(notes))


def forget() -> None:
    """Drop what is not written, for tests."""
    _memory.take()


class _Memory:
    """The notes of this process that are not written yet, and the thread that writes them."""

    def __init__(self) -> None:
        self.writing = threading.Lock()  # who waits for it reads what the one before has stored
        self._lock = threading.Lock()
        self._notes: list[Note] = []
        self._lost = 0
        self._has_notes = threading.Event()
        self._thread: threading.Thread | None = None

    def keep(self, note: Note) -> None:
        with self._lock:
            if len(self._notes) >= MOST_NOTES:
                self._lost += 1
                return
            self._notes.append(note)
            if settings.REQUEST_LOG_IN_BACKGROUND and self._thread is None:
                self._start()
        self._has_notes.set()

    def take(self) -> tuple[list[Note], int]:
        """The notes, and how many found no room."""
        with self._lock:
            notes, lost, self._notes, self._lost = self._notes, self._lost, [], 0
            self._has_notes.clear()
        return notes, lost

    def put_back(self, notes: list[Note]) -> None:
        with self._lock:
            room = MOST_NOTES - len(self._notes)
            self._notes = [*notes[:room], *self._notes]
            self._lost += len(notes[room:])
        self._has_notes.set()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._write_for_ever, name="request-log", daemon=True)
        self._thread.start()
        # At the end of the process; of a server's worker too, which is a child of multiprocessing and runs no atexit.
        Finalize(None, _write_the_rest, (self,), exitpriority=0)

    def _write_for_ever(self) -> None:
        while True:
            self._has_notes.wait()
            time.sleep(WRITTEN_EVERY)
            write()
            connection.close()  # this thread's own


_memory = _Memory()


def _write_the_rest(memory: _Memory) -> None:
    if memory is _memory:
        write()


def _begin_anew() -> None:
    """A forked process has no thread, and leaves the notes to the one that made them."""
    global _memory  # noqa: PLW0603 - its locks may be held for ever
    _memory = _Memory()


os.register_at_fork(after_in_child=_begin_anew)
