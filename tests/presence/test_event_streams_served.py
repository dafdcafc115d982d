"""Event streams over real sockets, under the real server: one process for everything, and one for streams alone."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest
import requests
from django.db import connection
from django.utils import timezone

from accounts.api_keys import keys
from accounts.models import ApiKey
from infrastructure import hashing
from oidc_provider.token import signing
from presence.store.store import PresenceStore
from presence.streaming import tokens
from tests.journeys.processes import Server
from tests.presence import lookups, served
from tests.presence.following import NO_ID, OPENING, Event
from tests.presence.lookups import ADA, ONLINE, SECRET, Json
from tests.presence.workers import wait_until

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

IDLE: Json = {**ONLINE, "client_status": {"desktop": "idle"}}
NOT_FOUND = {"error": "errors.notFound"}
EITHER = pytest.mark.parametrize("interface", served.INTERFACES)


@pytest.fixture(autouse=True)
def _ada(store: PresenceStore) -> None:
    """A member who is online, a key, and what the service needs to be ready."""
    signing.ensure_signing_key()
    lookups.key()
    lookups.tell(store)


def _is_taken(server: Server) -> bool:
    """Whether the key has no place for another stream at the moment."""
    with served.reader(server, ADA) as reader:
        return reader.status == 429


@EITHER
def test_changes_reach_several_readers_and_sigterm_ends_their_streams(
    tmp_path: Path, store: PresenceStore, interface: str
) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(served.service(tmp_path, served.INTERFACES[interface]))
        readers = [stack.enter_context(served.reader(server, ADA)) for _ in range(3)]
        assert {reader.status for reader in readers} == {200}
        assert {reader.headers["content-type"] for reader in readers} == {"text/event-stream; charset=utf-8"}
        streams = [reader.events() for reader in readers]
        assert [next(stream).data["status"]["status"] for stream in streams] == ["online"] * 3
        lookups.tell(store, presence=IDLE)
        assert [next(stream).data["status"]["status"] for stream in streams] == ["idle"] * 3
        plain = requests.get(f"{server.base_url}/healthz", timeout=served.PATIENCE)
        assert plain.json() == {"status": "ok"}
        server.process.send_signal(signal.SIGTERM)
        assert [list(stream) for stream in streams] == [[], [], []]
        assert server.process.wait(served.PATIENCE) == 0
    assert "Killing" not in (tmp_path / "log").read_text()


@EITHER
def test_five_readers_share_two_connections_until_the_key_is_revoked(tmp_path: Path, interface: str) -> None:
    values = {"DATABASE_POOL_SIZE": "2"} if connection.vendor == "postgresql" else {}
    with contextlib.ExitStack() as stack:
        command = served.QUICK[interface]
        server = stack.enter_context(served.service(tmp_path, command, RATE_LIMITS_ENABLED="0", **values))
        readers = [stack.enter_context(served.reader(server, ADA)) for _ in range(5)]
        blocks = [reader.blocks() for reader in readers]
        assert [next(each) for each in blocks] == [OPENING] * 5
        assert all(next(each).startswith("event: presence\n") for each in blocks)
        assert [[next(each) for _ in range(2)] for each in blocks] == [[": heartbeat"] * 2] * 5
        url = f"{server.base_url}/api/lookup/presence/{ADA}/events"
        assert requests.head(url, headers={"X-API-Key": SECRET}, timeout=served.PATIENCE).status_code == 200
        assert _is_taken(server)
        readers[0].leave()
        wait_until(lambda: not _is_taken(server), "The place was never freed.")
        keys.revoke(key=ApiKey.objects.get(), by=None)
        refused = {"error": "API Key not found", "code": "KEY_NOT_FOUND"}
        assert list(readers[1].events()) == [Event("closed", "", refused)]


def test_the_process_for_streams_serves_nothing_else(tmp_path: Path) -> None:
    with served.service(tmp_path, served.INTERFACES["asgi"]) as server:
        for path in ("/", "/accounts/login/", "/api/imagehost/upload", "/media/x", f"/api/lookup/presence/{ADA}"):
            for call in (requests.get, requests.post):
                answer = call(f"{server.base_url}{path}", timeout=served.PATIENCE)
                assert (answer.status_code, answer.json()) == (404, NOT_FOUND), path
        url = f"{server.base_url}/api/lookup/presence/{ADA}"
        head = requests.head(f"{url}/events", headers={"X-API-Key": SECRET}, timeout=served.PATIENCE)
        assert (head.status_code, head.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
        refused = requests.post(f"{url}/events", data="x" * 99, timeout=served.PATIENCE)
        assert (refused.status_code, refused.json()) == (405, {"error": "errors.methodNotAllowed"})


@EITHER
def test_a_stream_of_many_is_opened_with_a_token_and_ends_with_its_key(
    tmp_path: Path, store: PresenceStore, interface: str
) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(served.service(tmp_path, served.QUICK[interface], RATE_LIMITS_ENABLED="0"))
        query = f"?ids={ADA},{lookups.BEN}&token={_token_of(SECRET)}"
        reader = stack.enter_context(served.reader(server, query, X_API_Key=""))
        assert reader.status == 200
        events = reader.events()
        assert [next(events).event for _ in range(2)] == ["presence", "unavailable"]
        lookups.tell(store, presence=IDLE)
        changed = next(events)
        assert (changed.data["id"], changed.data["presence"]["status"]["status"]) == (str(ADA), "idle")
        with served.reader(server, f"{query}&lastEventId={changed.id}", X_API_Key="") as again:
            assert [next(again.blocks()) for _ in range(2)] == [OPENING, ": heartbeat"]
        keys.revoke(key=ApiKey.objects.get(), by=None)
        refused = {"error": "API Key not found", "code": "KEY_NOT_FOUND"}
        assert [event for event in events if event.event == "closed"] == [Event("closed", NO_ID, refused)]
    assert query.rpartition("=")[2] not in (tmp_path / "log").read_text()


def _token_of(secret: str) -> str:
    """A token as the service makes it: this process shares its cache with the server."""
    return tokens.issue(hashing.digest(secret), now=timezone.now()).text
