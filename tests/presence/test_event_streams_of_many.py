"""The event stream of up to 100 members: its events, its limits, and the tokens by which browsers open it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import bans
from accounts.api_keys import keys
from accounts.errors import KeyRateLimited
from accounts.models import ApiKey
from presence.store.store import PresenceStore
from presence.streaming import streams, tokens
from tests.factories.accounts import UserFactory
from tests.presence import following, lookups, store_contents
from tests.presence.following import NO_ID, OPENING, Event
from tests.presence.lookups import (
    ADA,
    ADDRESS,
    BEN,
    NOT_FOUND,
    NOT_MEMBER,
    ONLINE,
    PLAIN,
    PRIVATE,
    SECRET,
    UNAVAILABLE,
    Json,
)
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db

IDLE: Json = {**ONLINE, "client_status": {"desktop": "idle"}}
CLEO, DORA, NEVER_ISSUED = 268473310986240003, 268473310986240004, 9_000_000_000_000_000_000
INVALID = (400, {"error": "errors.lookupChatIdsInvalid"})
INVALID_TOKEN = (401, {"error": "Invalid stream token.", "code": "INVALID_STREAM_TOKEN"})
KEY_NOT_FOUND = (401, {"error": "API Key not found", "code": "KEY_NOT_FOUND"})
RATE_LIMITED = (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
FORBIDDEN = (403, {"error": "errors.originNotAllowed"})
PAGE = "https://www.example.org"


@pytest.fixture(autouse=True)
def _members(store: PresenceStore, settings: Settings) -> None:
    """Two members who are online, one who is private, one who is none, and a key that names a page."""
    settings.PRESENCE_STREAMS = 32
    lookups.key(origins=f"{PAGE}\nhttp://localhost:3000")
    lookups.tell(store)
    lookups.tell(store, BEN, member=_member(BEN))
    store.keep_miss(CLEO, "private")
    store.keep_miss(DORA, "notMember")


def _member(chat_id: int) -> Json:
    return {**PLAIN, "user": {**PLAIN["user"], "id": str(chat_id), "username": f"u{chat_id}"}}


def _answer(response: Any) -> tuple[int, Any]:
    return response.status_code, response.json()


def _data(chat_id: int, body: Json) -> Json:
    return {"id": str(chat_id), **body}


def _first(ids: list[int], **asked: Any) -> list[Event]:
    """The events of the snapshot, which is one piece."""
    with following.followed_many(ids, **asked) as stream:
        piece = next(iter(stream.response)).decode()
    blocks = piece.removesuffix("\n\n").split("\n\n")
    assert blocks[0] == OPENING
    found = [following.event_in(block) for block in blocks[1:]]
    return [event for event in found if event is not None]


@pytest.mark.parametrize("turn", range(6))
def test_each_member_has_one_event_with_what_the_lookup_answers_in_every_position(turn: int) -> None:
    shown: dict[int, tuple[str, Json]] = {
        ADA: ("presence", {"presence": lookups.get(ADA).body}),
        BEN: ("presence", {"presence": lookups.get(BEN).body}),
        CLEO: ("gone", PRIVATE[1]),
        DORA: ("gone", NOT_MEMBER[1]),
        NEVER_ISSUED: ("gone", NOT_FOUND[1]),
        DORA + 1: ("unavailable", UNAVAILABLE[1]),
    }
    ids = list(shown)
    order = ids[turn:] + ids[:turn]
    events = _first([*order, order[0], order[-1]])  # repeated ones are followed once
    assert [(event.event, event.data) for event in events] == [
        (shown[chat_id][0], _data(chat_id, shown[chat_id][1])) for chat_id in order
    ]
    assert [event.id for event in events[:-1]] == [NO_ID] * 5
    assert len(events[-1].id) == 12 * len(ids)


def test_a_change_names_its_member_and_nobody_ends_the_stream_of_the_others(store: PresenceStore) -> None:
    with following.followed_many([ADA, BEN, CLEO]) as stream:
        events = stream.events()
        assert [next(events).event for _ in range(3)] == ["presence", "presence", "gone"]
        lookups.tell(store, BEN, member=_member(BEN), presence=IDLE)
        changed = next(events)
        assert (changed.event, changed.data["id"]) == ("presence", str(BEN))
        assert changed.data["presence"]["status"]["status"] == "idle"
        store_contents.write(store, {}, [BEN])
        store.keep_departures([BEN], token=store_contents.token_of(store))
        gone = next(event for event in events if event.event == "gone")
        assert gone.data == _data(BEN, NOT_MEMBER[1])
        lookups.tell(store, presence=IDLE)
        assert next(events).data["presence"]["status"]["status"] == "idle"
        lookups.tell(store, BEN, member=_member(BEN))
        assert next(events).data["id"] == str(BEN)


@pytest.mark.parametrize("is_header", [True, False])
def test_a_client_that_comes_back_gets_what_has_changed_since(store: PresenceStore, is_header: bool) -> None:
    ids = [ADA, BEN, CLEO]
    tag = _first(ids)[-1].id
    asked: Json = {"headers": {"Last-Event-ID": tag}} if is_header else {"lastEventId": tag}
    assert _first(ids, **asked) == []
    lookups.tell(store, BEN, member=_member(BEN), presence=IDLE)
    changed = _first(ids, **asked)
    assert [event.data["id"] for event in changed] == [str(BEN)]
    assert changed[0].id[:12] + changed[0].id[24:] == tag[:12] + tag[24:]


@pytest.mark.parametrize("tag", ["", "x", "0" * 36, "0" * 37, "é" * 36, "f" * 100_000])
def test_an_id_that_is_forged_or_of_other_members_means_a_whole_snapshot(tag: str) -> None:
    assert len(_first([ADA, BEN, CLEO], lastEventId=tag)) == 3
    other = _first([BEN, ADA])[-1].id
    assert len(_first([ADA, BEN, CLEO], lastEventId=other)) == 3


BAD_IDS = {
    "none": "",
    "a letter": f"{ADA},x",
    "too short": "1" * 16,
    "too long": "1" * 20,
    "digits of another script": "\N{FULLWIDTH DIGIT ONE}" * 18,
    "a number written with a zero": f"{ADA},0{ADA}"[:37],
    "an empty one": f"{ADA},,{BEN}",
    "101": ",".join(str(ADA + number) for number in range(101)),
    "a megabyte": "1" * 1_000_000,
}


@pytest.mark.parametrize("case", BAD_IDS)
def test_ids_that_cannot_be_are_refused_before_the_key_is_looked_at(case: str) -> None:
    for method in ("get", "head"):
        answer = following.ask_many(BAD_IDS[case], secret=None, method=method)
        assert (answer.status_code, answer.content) == (
            400,
            b'{"error":"errors.lookupChatIdsInvalid"}'[: 99 * (method == "get")],
        )
    assert streams.in_use() == 0


def test_ids_are_given_once_and_other_methods_are_refused() -> None:
    client = Client(REMOTE_ADDR=ADDRESS)
    assert _answer(client.get(f"/api/lookup/presence/events?ids={ADA}&ids={BEN}")) == INVALID
    assert client.post(f"/api/lookup/presence/events?ids={ADA}").status_code == 405
    assert client.options(f"/api/lookup/presence/events?ids={ADA}").status_code == 405
    assert client.get("/api/lookup/presence/stream-token").status_code == 405


def test_a_hundred_members_are_one_read_of_the_store_and_no_question_to_the_platform(
    store: PresenceStore, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    read = PresenceStore.snapshots

    def counted(self: PresenceStore, chat_ids: Any) -> Any:
        asked.append(len(chat_ids))
        return read(self, chat_ids)

    monkeypatch.setattr(PresenceStore, "snapshots", counted)
    events = _first([ADA + number for number in range(100)])
    assert (len(events), asked[0]) == (100, 100)
    assert len(simulator.counters.rest) == 0


def test_a_store_that_is_stale_is_503_and_holds_no_place(store: PresenceStore) -> None:
    lookups.alive(store, timezone.now() - timedelta(seconds=60))
    assert _answer(following.ask_many([ADA, BEN])) == UNAVAILABLE
    assert streams.in_use() == 0


# --- Limits ---


def test_a_stream_costs_one_request_for_each_ten_members_begun() -> None:
    hundred = [ADA + number for number in range(100)]
    for ids in (hundred, hundred[:91], [ADA] * 99, hundred[:1]):  # 10, 10, 1 and 1 of 30 a minute
        following.ask_many(ids).close()
    assert _answer(following.ask_many(hundred)) == RATE_LIMITED
    following.ask_many(hundred[:80]).close()
    assert _answer(following.ask_many([ADA])) == RATE_LIMITED
    following.no_stream_watches()


def test_a_process_gives_one_place_for_each_ten_members_begun(settings: Settings) -> None:
    settings.PRESENCE_STREAMS = 11
    lookups.key("other")
    hundred = [ADA + number for number in range(100)]
    with following.followed_many(hundred):
        assert streams.in_use() == 10
        refused = following.ask_many(hundred[:11], secret="other")
        assert (refused.status_code, refused.json(), refused.headers["Retry-After"]) == (
            *(503, {"error": "errors.unavailable"}),
            "15",
        )
        with following.followed_many(hundred[:10], secret="other"):
            assert streams.in_use() == 11
    assert streams.in_use() == 0


@pytest.mark.django_db(transaction=True)
def test_sixteen_threads_open_exactly_as_many_streams_as_there_are_places(settings: Settings) -> None:
    settings.PRESENCE_STREAMS = 40
    settings.RATE_LIMITS_ENABLED = False
    for number in range(16):
        lookups.key(f"key-{number}")
    start, hundred = threading.Barrier(16), [ADA + number for number in range(100)]

    def opened(number: int) -> Any:
        start.wait(10)
        try:
            return following.ask_many(hundred, secret=f"key-{number}")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(opened, range(16)))
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [503] * 12
    assert streams.in_use() == 40
    for answer in answers:
        answer.close()
    assert streams.in_use() == 0
    following.no_stream_watches()


def test_an_owner_has_a_fifth_of_the_places_of_a_process_with_all_keys(settings: Settings) -> None:
    settings.PRESENCE_STREAMS = 100
    with contextlib.ExitStack() as open_streams:
        for key_id in (1, 2):
            open_streams.callback(streams.StreamSlot(key_id, "owner", 10).close)
        for key_id in (1, 3):
            with pytest.raises(KeyRateLimited) as refused:
                streams.StreamSlot(key_id, "owner", 1)
            assert refused.value.retry_after == 15
        open_streams.callback(streams.StreamSlot(4, "another", 10).close)
        assert streams.in_use() == 30
    streams.StreamSlot(3, "owner", 10).close()
    assert streams.in_use() == 0


def test_an_owner_always_has_one_stream_of_a_small_process(settings: Settings) -> None:
    settings.PRESENCE_STREAMS = 20
    with contextlib.closing(streams.StreamSlot(1, "owner", 10)), pytest.raises(KeyRateLimited):
        streams.StreamSlot(2, "owner", 1)


# --- Tokens ---


def _token(secret: str = SECRET) -> str:
    response = Client(REMOTE_ADDR=ADDRESS).post("/api/lookup/presence/stream-token", headers={"X-API-Key": secret})
    assert response.status_code == 200, response.content
    body = response.json()
    assert list(body) == ["error", "token", "expiresAt"]
    assert body["error"] is None
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    token: str = body["token"]
    return token


def _with_token(token: str, origin: str | None = PAGE, **query: str) -> Any:
    headers = {} if origin is None else {"Origin": origin}
    return following.ask_many([ADA, BEN], secret=None, headers=headers, token=token, **query)


@pytest.mark.django_db(transaction=True)  # a stream closes the connections of its thread
def test_a_page_opens_a_stream_with_a_token_and_may_read_it() -> None:
    token = _token()
    for origin in (PAGE, "http://localhost:3000"):  # twice: a browser that is cut off connects again
        answer = _with_token(token, origin)
        assert answer.status_code == 200
        assert answer.headers["Access-Control-Allow-Origin"] == origin
        assert "Origin" in answer.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer.headers
        answer.close()
    without = _with_token(token, None)
    assert (without.status_code, "Access-Control-Allow-Origin" in without.headers) == (200, False)
    without.close()
    following.no_stream_watches()


@pytest.mark.parametrize(
    "origin",
    ["https://example.org", "http://www.example.org", f"{PAGE}:443", f"{PAGE}.evil.test", "null", "", "x" * 9000],
)
def test_pages_of_origins_that_the_key_does_not_name_are_refused(origin: str) -> None:
    answer = _with_token(_token(), origin)
    assert _answer(answer) == FORBIDDEN
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert streams.in_use() == 0


def test_origins_of_another_key_do_not_count() -> None:
    lookups.key("other")
    assert _answer(_with_token(_token("other"))) == FORBIDDEN


def test_a_key_in_its_header_has_no_cors() -> None:
    answer = following.ask_many([ADA], headers={"Origin": PAGE})
    assert (answer.status_code, "Access-Control-Allow-Origin" in answer.headers) == (200, False)
    answer.close()
    lone = following.ask(ADA, Origin=PAGE)
    assert "Access-Control-Allow-Origin" not in lone.headers
    lone.close()
    following.no_stream_watches()


@pytest.mark.parametrize("token", ["", "x", "A" * 43, "A" * 100_000, SECRET])
def test_what_is_no_token_opens_nothing(token: str) -> None:
    assert _answer(_with_token(token)) == INVALID_TOKEN
    with_key = following.ask_many([ADA], token=token)  # and no key beside it makes up for it
    assert _answer(with_key) == INVALID_TOKEN


def test_a_token_ends_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    assert timedelta(seconds=60) == tokens.LIFETIME
    monkeypatch.setattr(tokens, "LIFETIME", timedelta(0))
    assert _answer(_with_token(_token())) == INVALID_TOKEN


@pytest.mark.embedded
def test_places_and_tokens_outlive_1000_others_that_the_cache_takes() -> None:
    """In the embedded default it is in the process, which may hold 500 streams."""
    token = tokens.issue("a hash", now=timezone.now())
    places = [streams.StreamSlot(1, "owner", 1) for _ in range(5)]
    cache.set_many({f"another:{number}": number for number in range(1000)}, 60)
    with pytest.raises(KeyRateLimited):
        streams.StreamSlot(1, "owner", 1)
    assert tokens.secret_hash_of(token.text) == "a hash"
    for place in places:
        place.close()


def test_a_token_takes_the_place_of_no_other_key_than_a_streams() -> None:
    token = _token()
    for headers in ({"X-API-Key": token}, {"Authorization": f"Bearer {token}"}):
        answer = Client(REMOTE_ADDR=ADDRESS).get(f"/api/lookup/presence/{ADA}", headers=headers)
        assert answer.status_code == 401


ENDS: dict[str, tuple[Callable[[ApiKey], object], tuple[int, Json]]] = {
    "revoked": (lambda key: keys.revoke(key=key, by=None), KEY_NOT_FOUND),
    "disabled": (
        lambda key: keys.disable(key=key, by=None),
        (403, {"error": "API Key is disabled", "code": "KEY_DISABLED"}),
    ),
    "banned": (
        lambda key: bans.ban(user=key.owner, by=UserFactory(is_staff=True, is_superuser=True), reason="spam"),
        KEY_NOT_FOUND,
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("case", ENDS)
def test_a_token_ends_with_its_key(case: str) -> None:
    act, expected = ENDS[case]
    token = _token()
    act(ApiKey.objects.get())
    assert _answer(_with_token(token)) == expected


# --- Origins ---


@pytest.mark.parametrize(
    "origins",
    [
        *(
            "example.org",
            "https://",
            "https://Example.org",
            "https://example.org/",
            "https://a b.c",
            "http://example.org",
        ),
        *("https://example.org:443", "http://localhost:80", "https://example.org:65536", "https://example.org:08"),
        *("https://user@example.org", "*", "null", "https://*.example.org", "https://-a.org", "x" * 3001),
        "\n".join(f"https://h{number}.example.org" for number in range(11)),
    ],
)
def test_what_no_browser_sends_as_an_origin_cannot_be_named(origins: str) -> None:
    assert "origins" in keys.problems(origins=origins)


def test_origins_are_kept_once_each() -> None:
    key = keys.name_origins(
        key=ApiKey.objects.get(), origins=" https://a.test:8443\r\nhttp://[::1]:3000 https://a.test:8443 ", by=None
    )
    assert key.origins == "https://a.test:8443\nhttp://[::1]:3000"
    assert keys.origins_of(key.pk) == {"https://a.test:8443", "http://[::1]:3000"}
