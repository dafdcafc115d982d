"""Notes what apps ask of the provider, for the people who debug them.

Notes are written behind: by a thread within seconds, and by pages before they read. Client ids are public, so anybody
can cause entries: memory is bounded, and a batch stores at most MOST_RECORDS of one app; what is above is counted only.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from accounts import client_address, request_context
from accounts.metrics import Counter
from accounts.write_behind import WriteBehindBuffer
from oidc_provider.log import request_records
from oidc_provider.models import OK, RequestKind

MOST_NOTES = 10_000  # in memory
REQUESTS = Counter(
    "hearth_provider_requests", "Requests of apps, by what they were about and `ok` or the error.", ("kind", "outcome")
)


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
        self._note = Note(kind, request_context.request_id())

    def __enter__(self) -> Note:
        self._token = _current.set(self._note)
        return self._note

    def __exit__(self, raised: type[BaseException] | None, *details: object) -> None:
        _current.reset(self._token)
        note = self._note
        note.outcome = note.outcome or ("server_error" if raised else OK)
        REQUESTS.count(note.kind.lower(), note.outcome)
        request_context.about(client_id=note.client_id, user_id=note.user_id)
        if note.outcome != OK:
            request_context.failed(note.outcome)
        if note.client_id:
            buffer.note(note)


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


buffer: WriteBehindBuffer[Note] = WriteBehindBuffer("request-log", request_records.store, limit=MOST_NOTES)
