"""Event streams inside this process, as a reader of one sees them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.test import Client

from presence.streaming import watching
from tests.presence.lookups import ADA, ADDRESS, SECRET

PATIENCE = 10  # seconds
OPENING = "retry: 3000"
NO_ID = "none"  # of an event without the field: the client keeps the last one


@dataclass(frozen=True)
class Event:
    """As a browser would see it. `id`: "" takes the last one away. `data`: the JSON in it. Any: a JSON value."""

    event: str
    id: str
    data: Any


class Following:
    """What an answer sends. `response`: the test client's, which has no public type."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self._pieces = iter(response)

    def blocks(self) -> Iterator[str]:
        """What comes up to each empty line."""
        for piece in self._pieces:
            text = piece.decode()
            assert text.endswith("\n\n"), text
            yield from text[:-2].split("\n\n")

    def events(self) -> Iterator[Event]:
        """Neither comments nor the opening."""
        return (event for block in self.blocks() if (event := event_in(block)) is not None)


def event_in(block: str) -> Event | None:
    fields = dict(line.split(":", 1) for line in block.split("\n"))
    if "event" not in fields:
        return None
    # Of many, the last event of several has an id, which comes first; the others have none.
    assert list(fields) in (["event", "id", "data"], ["id", "event", "data"], ["event", "data"]), block
    return Event(fields["event"].strip(), fields.get("id", NO_ID).strip(), json.loads(fields["data"]))


def ask_many(
    ids: Sequence[int | str] | str,
    *,
    secret: str | None = SECRET,
    method: str = "get",
    headers: Any = None,
    **query: str,
) -> Any:
    """The test client's response for a stream of many. `ids`: as a list, or as they stand in the query."""
    text = ids if isinstance(ids, str) else ",".join(map(str, ids))
    keys = {} if secret is None else {"X-API-Key": secret}
    call = getattr(Client(REMOTE_ADDR=ADDRESS), method)
    return call("/api/lookup/presence/events", query_params={"ids": text, **query}, headers={**keys, **(headers or {})})


@contextlib.contextmanager
def followed_many(ids: Sequence[int | str], **asked: Any) -> Iterator[Following]:
    """An open stream of many, closed at the end, with the watching thread."""
    response = ask_many(ids, **asked)
    assert response.status_code == 200, response.content
    try:
        yield Following(response)
    finally:
        response.close()
        no_stream_watches()


def ask(chat_id: int | str = ADA, *, secret: str | None = SECRET, method: str = "get", **headers: str) -> Any:
    """The test client's response, which has no public type."""
    keys = {} if secret is None else {"X-API-Key": secret}
    call = getattr(Client(REMOTE_ADDR=ADDRESS), method)
    return call(f"/api/lookup/presence/{chat_id}/events", headers={**keys, **headers})


@contextlib.contextmanager
def followed(chat_id: int | str = ADA, *, secret: str = SECRET, **headers: str) -> Iterator[Following]:
    """An open stream, closed at the end, with the watching thread."""
    response = ask(chat_id, secret=secret, **headers)
    assert response.status_code == 200, response.content
    try:
        yield Following(response)
    finally:
        response.close()
        no_stream_watches()


def no_stream_watches() -> None:
    """Wait for the end of the watching thread."""
    if thread := watching.hub.thread():
        thread.join(PATIENCE)
    assert watching.hub.thread() is None
