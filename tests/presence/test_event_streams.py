"""The event stream of a member's presence: its events, its limits and its end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts import bans
from accounts.api_keys import keys
from accounts.models import ApiKey
from presence.answer import members
from presence.store.store import Banner, PresenceStore
from presence.streaming import streams, watching
from presence.streaming.streams import AsyncStream, BlockingStream, KeyInUse, Stream
from tests.accounts.calls import without_budget
from tests.presence import following, lookups, store_contents
from tests.presence.following import OPENING, Event
from tests.presence.lookups import ADA, ADDRESS, BEN, NOT_MEMBER, ONLINE, SECRET, UNAVAILABLE, Json
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db

IDLE: Json = {**ONLINE, "client_status": {"desktop": "idle"}}
RATE_LIMITED = {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"}


@pytest.fixture(autouse=True)
def _ada(store: PresenceStore, settings: Settings) -> None:
    """A member who is online, a key, and a process that holds streams."""
    settings.PRESENCE_STREAMS = 32
    lookups.key()
    lookups.tell(store)


def _status(event: Event) -> tuple[str, str]:
    return event.event, event.data["status"]["status"]


def test_the_first_event_comes_at_once_and_is_the_lookups_body() -> None:
    body = lookups.get(ADA)
    with following.followed() as stream:
        blocks = stream.blocks()
        assert next(blocks) == OPENING
        name, tag, data = next(blocks).split("\n")
        assert (name, data) == ("event: presence", f"data: {body.text}")
        del stream.response.headers["X-Request-Id"]
        assert without_budget(stream.response.headers) == {
            "Content-Type": "text/event-stream; charset=utf-8",
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "Vary": "X-API-Key, Authorization",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
            "Referrer-Policy": "no-referrer",
        }
    with following.followed(**{"Last-Event-ID": "another"}) as stream:
        again = next(stream.events())
    assert tag == f"id: {again.id}"
    assert again.data == body.body


def test_a_change_is_sent_and_what_changes_nothing_that_is_shown_is_not(store: PresenceStore) -> None:
    with following.followed() as stream:
        events = stream.events()
        first = next(events)
        lookups.tell(store, touched=timedelta(seconds=-5))
        lookups.tell(store, presence=IDLE)
        second = next(events)
        lookups.tell(store)
        third = next(events)
    assert [_status(event) for event in (first, second, third)] == [
        ("presence", "online"),
        ("presence", "idle"),
        ("presence", "online"),
    ]
    assert first == third
    assert first.id != second.id


def test_a_member_who_leaves_ends_the_stream(store: PresenceStore) -> None:
    with following.followed() as stream:
        events = stream.events()
        next(events)
        store_contents.write(store, {}, [ADA])
        assert next(events) == Event("unavailable", "", UNAVAILABLE[1])  # the record may have been evicted
        store.keep_departures([ADA], token=store_contents.token_of(store))
        assert list(events) == [Event("gone", "", NOT_MEMBER[1])]


REFUSED: dict[str, tuple[Callable[[], object], int | str, str | None]] = {
    "malformed": (lambda: None, "26847331098624000x", lookups.SECRET),
    "no key": (lambda: None, ADA, None),
    "expired key": (lambda: lookups.key("old", expires_at=timezone.now()), ADA, "old"),
    "another permission": (lambda: lookups.key("other", permissions=["lookup:user"]), ADA, "other"),
    "never issued": (lambda: None, "9" * 19, lookups.SECRET),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("method", ["get", "head"])
def test_what_the_lookup_refuses_is_refused_in_the_same_words(case: str, method: str) -> None:
    prepare, chat_id, secret = REFUSED[case]
    prepare()
    expected = lookups.get(chat_id, secret)
    answer = following.ask(chat_id, secret=secret, method=method)
    assert (answer.status_code, answer.content) == (expected.status, expected.text.encode() if method == "get" else b"")
    fields = without_budget(expected.headers)
    assert answer.headers.pop("X-Request-Id")[1] != fields.pop("X-Request-Id")
    assert without_budget(answer.headers) == fields
    assert streams.in_use() == 0


def test_who_is_no_member_and_what_is_unknown_are_sent_as_the_lookup_answers_them(store: PresenceStore) -> None:
    store.keep_miss(BEN, "notMember")
    assert (following.ask(BEN).status_code, following.ask(BEN).json()) == NOT_MEMBER
    lookups.alive(store, timezone.now() - timedelta(seconds=60))
    answer = following.ask()
    assert (answer.status_code, answer.json()) == UNAVAILABLE
    assert "Retry-After" in answer.headers


@pytest.mark.django_db(transaction=True)
def test_an_open_stream_holds_no_database_connection() -> None:
    with following.followed():
        held = connection.connection if connection.vendor == "postgresql" else None  # SQLite's is this thread's own
        assert held is None


# --- Places ---


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)  # SQLite: the store is in the database
def test_a_key_holds_five_streams_and_another_key_its_own() -> None:
    lookups.key("other")
    answers = [following.ask() for _ in range(5)]
    refused = following.ask()
    assert [answer.status_code for answer in answers] == [200] * 5
    assert (refused.status_code, refused.json(), refused.headers["Retry-After"]) == (429, RATE_LIMITED, "15")
    with following.followed(secret="other"):
        pass
    answers.pop().close()
    answers.append(following.ask())
    assert answers[-1].status_code == 200
    for answer in answers:
        answer.close()
    assert streams.in_use() == 0


def test_a_process_that_holds_all_it_may_says_so(settings: Settings) -> None:
    settings.PRESENCE_STREAMS = 1
    lookups.key("other")
    with following.followed():
        refused = following.ask(secret="other")
        assert (refused.status_code, refused.json()) == (503, {"error": "errors.unavailable"})
        assert refused.headers["Retry-After"] == "15"
    with following.followed(secret="other"):
        pass


def test_an_answer_that_the_server_drops_holds_no_place_of_the_process() -> None:
    for is_begun in (False, True):
        answer = following.ask()
        assert not is_begun or next(iter(answer)).startswith(b"retry:")
        assert streams.in_use() == 1
        del answer
        gc.collect()
        following.no_stream_watches()
        assert streams.in_use() == 0


# --- The key, and time ---


def _stream(kind: type[Stream] = BlockingStream) -> Stream:
    key = ApiKey.objects.get()
    in_use = KeyInUse(key.pk, key.owner_id, key.secret_hash, "lookup:presence")
    shown = members.presence_of(str(ADA), timezone.now())
    return kind(told={ADA: watching.of_presence(shown)}, key=in_use, last_event_id="")


ENDS: dict[str, tuple[Callable[[ApiKey], object], Json]] = {
    "revoked": (lambda key: keys.revoke(key=key, by=None), {"error": "API Key not found", "code": "KEY_NOT_FOUND"}),
    "withdrawn": (
        lambda key: (
            keys.grant_permission(key=key, permission="lookup:user", by=None),
            keys.withdraw_permission(key=key, permission="lookup:presence", by=None),
        ),
        {"error": "API Key not found", "code": "KEY_NOT_FOUND"},
    ),
    "banned": (
        lambda key: bans.ban(user=key.owner, by=None, reason="x"),
        {"error": "API Key not found", "code": "KEY_NOT_FOUND"},
    ),
}


@pytest.mark.django_db(transaction=True)  # what is known of a key is dropped with the commit
@pytest.mark.parametrize("case", ENDS)
def test_a_heartbeat_ends_the_stream_of_a_key_that_may_no_more(case: str) -> None:
    end, body = ENDS[case]
    with contextlib.closing(_stream()) as stream:
        assert stream.beat(15) == streams.BEAT
        end(ApiKey.objects.select_related("owner").get())
        assert following.event_in(stream.beat(30).decode()[:-2]) == Event("closed", "", body)
        assert stream.step(30) is None


def test_a_heartbeat_ends_the_stream_of_a_key_that_has_expired() -> None:
    ApiKey.objects.update(expires_at=timezone.now() + timedelta(minutes=30))
    with contextlib.closing(_stream()) as stream:
        assert stream.beat(15) == streams.BEAT
        with time_machine.travel(timezone.now() + timedelta(minutes=30)):
            reported = following.event_in(stream.beat(1800).decode()[:-2])
        assert reported == Event("closed", "", {"error": "API Key has expired", "code": "KEY_EXPIRED"})


def _lose_places() -> None:
    cache.delete_many([f"stream:{ApiKey.objects.get().pk}:{number}" for number in range(5)])


def test_a_heartbeat_takes_a_place_again_that_was_lost_or_ends_the_stream() -> None:
    with contextlib.closing(_stream()) as stream:
        _lose_places()
        assert stream.beat(15) == streams.BEAT
        _lose_places()
        with contextlib.ExitStack() as others:
            for _ in range(5):
                others.callback(following.ask().close)
            reported = following.event_in(stream.beat(30).decode()[:-2])
        assert reported == Event("closed", "", RATE_LIMITED)


def test_heartbeats_come_every_15_seconds_and_the_end_after_an_hour() -> None:
    with contextlib.closing(_stream()) as stream:
        assert isinstance(stream.step(1000), bytes)
        assert [stream.step(1000 + seconds) for seconds in (0, 5, 15)] == [15, 10, 0]
        assert stream.beat(1015) == streams.BEAT
        assert stream.step(1020) == 10
        assert stream.beat(4590) == streams.BEAT
        assert [stream.step(now) for now in (4599, 4600)] == [1, None]
    following.no_stream_watches()


@pytest.mark.django_db(transaction=True)  # a closed answer closes the connection
def test_a_stream_is_one_use_and_a_heartbeat_is_none() -> None:
    ApiKey.objects.update(remaining_uses=2)
    with following.followed() as stream:
        next(stream.events())
    with contextlib.closing(_stream()) as stream:
        for turn in range(1, 40):  # more than the limit of a minute
            assert stream.beat(15 * turn) == streams.BEAT
    assert ApiKey.objects.get().remaining_uses == 1
    assert lookups.get(ADA).status == 200


def test_closing_gives_back_no_place_that_another_stream_has_taken(settings: Settings) -> None:
    settings.PRESENCE_STREAMS_PER_KEY = 1
    with contextlib.closing(_stream()) as stream:
        _lose_places()
        with following.followed():
            stream.close()
            assert following.ask().status_code == 429


def test_the_event_loops_streams_close_without_the_cache_and_give_their_places_back_soon(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PRESENCE_STREAMS_PER_KEY = 1
    stream = _stream(AsyncStream)
    with monkeypatch.context() as patched:
        patched.setattr(streams, "cache", None)  # who asks it fails
        stream.close()
    assert streams.in_use() == 0
    assert following.ask().status_code == 429
    streams.closing.write()
    with following.followed():
        stream.close()
        streams.closing.write()
        assert following.ask().status_code == 429


def test_a_cache_that_hangs_is_waited_for_once_for_all_streams_that_were_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    class Hanging:
        def get(self, name: str) -> None:
            asked.append(name)
            raise TimeoutError

    for stream in [_stream(AsyncStream) for _ in range(3)]:
        stream.close()
    monkeypatch.setattr(streams, "cache", Hanging())
    streams.closing.write()
    assert len(asked) == 1


def test_the_banner_of_an_open_stream_is_read_again_every_two_minutes(
    store: PresenceStore, simulator: Simulator
) -> None:
    simulator.add_member(ADA, user={"banner": "a" * 32})
    asked = []
    with contextlib.closing(_stream()) as stream:
        assert isinstance(stream.step(1000), bytes)
        for now in (1119, 1120, 1239, 1240):
            store.keep_banner(ADA, Banner(None, 0))
            assert stream.beat(now) == streams.BEAT
            asked.append(len(simulator.counters.rest))
    assert asked == [1, 2, 2, 3]


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["http.response.start", "http.response.body"])
def test_a_stream_whose_client_has_gone_is_closed_and_gives_its_place_back(kind: str) -> None:
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
