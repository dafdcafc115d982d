"""Notes the requests of apps, for debugging.

A thread writes notes within seconds; pages write them before they read. Client ids are public, so anyone can cause
entries: memory is bounded, and a batch stores at most MOST_RECORDS of one app and counts the others.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone
from prometheus_client import Counter

from accounts import client_address, request_context
from accounts.write_behind import WriteBehindBuffer
from oidc_provider.log import request_records
from oidc_provider.models import OK, RequestKind

MOST_NOTES = 10_000  # in memory
REQUESTS = Counter(
    "hearth_provider_requests", "Requests of apps, by what they were about and `ok` or the error.", ("kind", "outcome")
)


@dataclass(slots=True)
class Note:
    """A request while it is served, kept if it has a `client_id`. `outcome`: `ok` or the error code."""

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
        """Do not keep this note."""
        self.client_id = ""


_current: ContextVar[Note | None] = ContextVar("request_note", default=None)


def noting(kind: RequestKind) -> _Noting:
    """Context manager: note the request served inside, and keep the note. An escaping exception is a server_error."""
    return _Noting(kind)


class _Noting:
    """A class, because leaving a generator's context manager takes longer than the rest of the work."""

    __slots__ = ("_note", "_token")

    def __init__(self, kind: RequestKind) -> None:
        self._note = Note(kind, request_context.request_id())

    def __enter__(self) -> Note:
        self._token = _current.set(self._note)
        return self._note

    def __exit__(self, raised: type[BaseException] | None, *details: object) -> None:
        _current.reset(self._token)
        note = self._note
        note.outcome = note.outcome or ("server_error" if raised else OK)
        REQUESTS.labels(note.kind.lower(), note.outcome).inc()
        request_context.about(client_id=note.client_id, user_id=note.user_id)
        if note.outcome != OK:
            request_context.failed(note.outcome)
        if note.client_id:
            buffer.note(note)


def about(*, kind: RequestKind | None = None, client_id: str = "", user_id: str = "") -> None:
    """Set facts of the current note. Does nothing outside a request."""
    note = _current.get()
    if note is not None:
        note.kind = kind or note.kind
        note.client_id = client_id or note.client_id
        note.user_id = user_id or note.user_id


def failed(error: str, description: str, *, redirect_uri: str = "") -> None:
    """Set the error of the current note. `redirect_uri`: for an error that concerns it."""
    note = _current.get()
    if note is not None:
        note.fails(error, description)
        note.redirect_uri = redirect_uri


def request_id() -> str:
    """Return the id of the current request, or the empty string."""
    note = _current.get()
    return note.request_id if note is not None else ""


buffer: WriteBehindBuffer[Note] = WriteBehindBuffer("request-log", request_records.store, limit=MOST_NOTES)
