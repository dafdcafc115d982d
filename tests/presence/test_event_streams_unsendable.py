"""Event streams that are not closed, or whose client has gone: the server notices when it sends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pytest_django import Settings

from presence.store.store import PresenceStore
from presence.streaming import streams
from tests.presence import following, lookups
from tests.presence.lookups import ADA, ADDRESS, SECRET

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _ada(store: PresenceStore, settings: Settings) -> None:
    """A member who is online, a key, and a process that holds streams."""
    settings.PRESENCE_STREAMS = 32
    lookups.key()
    lookups.tell(store)


SCOPE: dict[str, Any] = {  # Any: ASGI's values
    "type": "http",
    "http_version": "1.1",
    "method": "GET",
    "scheme": "http",
    "path": f"/api/lookup/presence/{ADA}/events",
    "raw_path": b"",
    "query_string": b"",
    "root_path": "",
    "headers": [(b"host", b"testserver"), (b"x-api-key", SECRET.encode())],
    "client": (ADDRESS, 1),
    "server": ("testserver", 80),
}


@pytest.mark.parametrize("kind", ["http.response.start", "http.response.body"])
def test_it_is_closed_and_gives_its_place_back(kind: str) -> None:
    from config.web.asgi import application  # it sets Django up, as a server wants it

    in_use: list[int] = []

    async def receive() -> dict[str, Any]:
        return await asyncio.Future()

    async def send(message: Any) -> None:
        in_use.append(streams.in_use())
        if message["type"] == kind:
            raise OSError("The client is gone.")

    with pytest.raises(OSError, match="The client is gone"):
        asyncio.run(application(SCOPE, receive, send))
    assert (in_use[-1], streams.in_use()) == (1, 0)
    following.no_stream_watches()
