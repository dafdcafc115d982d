"""Notes what apps ask of the provider, for the people who debug them: in memory first, written a moment later.

A note costs its request no query. Each process writes its own, in one transaction for many, by `accounts.background`,
and where a page calls `write()` before it reads. Client ids are public, so a stranger can
make entries: memory is bounded, and of one app a batch stores at most MOST_RECORDS; what is over is counted still.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime

from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils import timezone

from accounts import client_address
from accounts.background import BackgroundWriter
from oidc_provider.log import request_records
from oidc_provider.log.models import OK, RequestKind

MOST_NOTES = 10_000  # in memory

logger = logging.getLogger(__name__)


@dataclass(slots=True)
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


def noting(kind: RequestKind) -> _Noting:
    """The note of the request that is served inside; kept at the end. An exception that escapes is a server_error."""
    return _Noting(kind)


class _Noting:
    """A context manager, written out: a generator takes longer to leave than all else that is done here."""

    __slots__ = ("_note", "_token")

    def __init__(self, kind: RequestKind) -> None:
        self._note = Note(kind, secrets.token_hex(8))

    def __enter__(self) -> Note:
        self._token = _current.set(self._note)
        return self._note

    def __exit__(self, raised: type[BaseException] | None, *details: object) -> None:
        _current.reset(self._token)
        note = self._note
        note.outcome = note.outcome or ("server_error" if raised else OK)
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
    """The notes of this process that are not written yet."""

    def __init__(self) -> None:
        self.writing = threading.Lock()  # who waits for it reads what the one before has stored
        self._lock = threading.Lock()
        self._notes: list[Note] = []
        self._lost = 0
        self._writer = BackgroundWriter("request-log", write)

    def keep(self, note: Note) -> None:
        with self._lock:
            if len(self._notes) >= MOST_NOTES:
                self._lost += 1
                return
            self._notes.append(note)
        self._writer.wake()

    def take(self) -> tuple[list[Note], int]:
        """The notes, and how many found no room."""
        with self._lock:
            notes, lost, self._notes, self._lost = self._notes, self._lost, [], 0
        return notes, lost

    def put_back(self, notes: list[Note]) -> None:
        with self._lock:
            room = MOST_NOTES - len(self._notes)
            self._notes = [*notes[:room], *self._notes]
            self._lost += len(notes[room:])
        self._writer.wake()


_memory = _Memory()


def _begin_anew() -> None:
    """A forked process has no thread, and leaves the notes to the one that made them."""
    global _memory  # noqa: PLW0603 - its locks may be held for ever
    _memory = _Memory()


os.register_at_fork(after_in_child=_begin_anew)
