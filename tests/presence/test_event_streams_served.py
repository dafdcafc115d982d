"""Event streams over real sockets, under the real server: one process for everything, and one for streams alone."""

from __future__ import annotations

import contextlib
import signal
import time
from pathlib import Path

import pytest
import requests
from django.db import connection

from accounts import api_keys
from accounts.models import ApiKey
from oidc_provider import signing
from presence.store import PresenceStore
from tests.journeys.processes import Server
from tests.presence import lookups, served
from tests.presence.following import OPENING, Event
from tests.presence.lookups import ADA, ONLINE, SECRET, Json

pytestmark = pytest.mark.django_db(transaction=True)

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
def test_heartbeats_come_until_the_key_is_revoked(tmp_path: Path, interface: str) -> None:
    with served.service(tmp_path, served.QUICK[interface]) as server, served.reader(server, ADA) as reader:
        blocks = reader.blocks()
        assert next(blocks) == OPENING
        assert next(blocks).startswith("event: presence\n")
        assert [next(blocks) for _ in range(3)] == [": heartbeat"] * 3
        api_keys.revoke(key=ApiKey.objects.get(), by=None)
        refused = {"error": "API Key not found", "code": "KEY_NOT_FOUND"}
        assert list(reader.events()) == [Event("closed", "", refused)]


@EITHER
def test_a_reader_who_goes_away_frees_the_place(tmp_path: Path, interface: str) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(served.service(tmp_path, served.QUICK[interface], RATE_LIMITS_ENABLED="0"))
        readers = [stack.enter_context(served.reader(server, ADA)) for _ in range(5)]
        assert [next(reader.events()).event for reader in readers] == ["presence"] * 5
        assert _is_taken(server)
        readers[0].leave()
        give_up_at = time.monotonic() + served.PATIENCE
        while _is_taken(server):
            assert time.monotonic() < give_up_at, "The place was never freed."


@EITHER
def test_streams_need_no_database_connection_of_their_own(tmp_path: Path, interface: str) -> None:
    with contextlib.ExitStack() as stack:
        values = {"DATABASE_POOL_SIZE": "2"} if connection.vendor == "postgresql" else {}
        server = stack.enter_context(served.service(tmp_path, served.QUICK[interface], **values))
        readers = [stack.enter_context(served.reader(server, ADA)) for _ in range(5)]
        for reader in readers:
            blocks = reader.blocks()
            assert next(block for block in blocks if block == ": heartbeat")
        answer = requests.get(
            f"{server.base_url}/api/lookup/presence/{ADA}", headers={"X-API-Key": SECRET}, timeout=served.PATIENCE
        )
        assert answer.json()["status"]["status"] == "online"


@EITHER
def test_head_and_errors_are_answered_whole(tmp_path: Path, interface: str) -> None:
    with served.service(tmp_path, served.INTERFACES[interface]) as server:
        url = f"{server.base_url}/api/lookup/presence/{ADA}/events"
        head = requests.head(url, headers={"X-API-Key": SECRET}, timeout=served.PATIENCE)
        assert (head.status_code, head.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
        answers = [
            requests.get(url, timeout=served.PATIENCE),
            requests.post(url, data="x" * 99, timeout=served.PATIENCE),
        ]
        assert [(answer.status_code, answer.json()) for answer in answers] == [
            (401, {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"}),
            (405, {"error": "errors.methodNotAllowed"}),
        ]


def test_the_process_for_streams_serves_nothing_else(tmp_path: Path) -> None:
    with served.service(tmp_path, served.INTERFACES["asgi"]) as server:
        for path in ("/", "/accounts/login/", "/api/lookup/user?type=uid&value=0", "/api/imagehost/upload", "/media/x"):
            for call in (requests.get, requests.post):
                answer = call(f"{server.base_url}{path}", timeout=served.PATIENCE)
                assert (answer.status_code, answer.json()) == (404, NOT_FOUND), path
        answer = requests.get(
            f"{server.base_url}/api/lookup/presence/{ADA}", headers={"X-API-Key": SECRET}, timeout=served.PATIENCE
        )
        assert answer.json()["status"]["status"] == "online"
