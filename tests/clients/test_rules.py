"""The rules of both libraries: kept answers, limits, retries, streams that break off, the key and redirects."""

from __future__ import annotations

import base64
import json
import time

import pytest

from tests.clients.conftest import KEY, Driver
from tests.clients.scripted import Answer, server

pytestmark = [pytest.mark.live, pytest.mark.once]
ADA = {"type": "username", "value": "ada"}
USER = Answer(200, '{"error":null,"user":{"username":"ada"}}', {"ETag": '"v1"'})
FOUND = {"error": None, "user": {"username": "ada"}}
NOT_MODIFIED = Answer(304, "", {"ETag": '"v1"'})
REFUSED = Answer(429, '{"error":"Rate limit exceeded.","code":"RATE_LIMITED"}', {"Retry-After": "1"})
BUSY = Answer(503, '{"error":"errors.unavailable"}', {"Retry-After": "0"})
NO_GZIP = Answer(200, "{}", {"Content-Encoding": "gzip"})
MISS = Answer(404, '{"error":"errors.lookupNotMember","miss":"notMember"}')
UPLOADED = Answer(200, '{"ok":true,"url":"https://i.example/a.png"}')


def test_an_answer_that_has_not_changed_is_the_kept_one(driver: Driver) -> None:
    with server([USER, NOT_MODIFIED, Answer(200, '{"user":2}', {"ETag": '"v2"'}), Answer(304, "")]) as script:
        driver.connect(script.origin)
        found = [driver.call("user", **ADA) for _ in range(4)]
    assert found == [FOUND, FOUND, {"user": 2}, {"user": 2}]
    assert script.sent("if-none-match") == [None, '"v1"', '"v1"', '"v2"']


def test_answers_are_kept_by_address_and_the_oldest_makes_place(driver: Driver) -> None:
    with server([USER, USER, USER]) as script:
        driver.connect(script.origin, kept=1)
        for value in ("ada", "ben", "ada"):
            driver.call("user", type="username", value=value)
    assert script.sent("if-none-match") == [None, None, None]


@pytest.mark.parametrize(
    "first",
    [REFUSED, BUSY, Answer(502, "<html>"), Answer(0), Answer(200, '{"a', is_cut=True), NO_GZIP],
    ids=str,
)
def test_a_read_is_sent_again_after_a_refusal_or_no_answer(driver: Driver, first: Answer) -> None:
    with server([first, USER]) as script:
        driver.connect(script.origin)
        started = time.monotonic()
        assert driver.call("user", **ADA) == FOUND
    assert time.monotonic() - started >= (1 if first is REFUSED else 0)
    assert script.left == []


def test_a_call_is_sent_as_often_as_the_program_allows(driver: Driver) -> None:
    with server([BUSY] * 3) as script:
        driver.connect(script.origin, tries=2)
        assert driver.refused("user", **ADA)["status"] == 503
    assert script.left == [BUSY]


def test_a_wait_that_is_longer_than_the_program_allows_is_an_error_at_once(driver: Driver) -> None:
    later = Answer(429, REFUSED.body, {"Retry-After": "30"})
    with server([later, USER]) as script:
        driver.connect(script.origin, patience=5)
        started = time.monotonic()
        error = driver.refused("user", **ADA)
    assert error == {
        "kind": "AnswerError",
        "status": 429,
        "code": "RATE_LIMITED",
        "error": "Rate limit exceeded.",
        "miss": None,
        "retry_after": 30,
    }
    assert time.monotonic() - started < 3
    assert script.left == [USER]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_another_refusal_is_not_sent_again(driver: Driver, status: int) -> None:
    with server([Answer(status, MISS.body), USER]) as script:
        driver.connect(script.origin)
        error = driver.refused("presence", chat_id="268473310986240001")
    assert (error["status"], error["error"], error["miss"]) == (status, "errors.lookupNotMember", "notMember")
    assert script.left == [USER]


@pytest.mark.parametrize("budget", ['"key";r=0;t=1', '"address";r=9;t=60, "key";r=0;t=1', '"key";q=30;r=0;t=1;x=1'])
def test_no_request_is_sent_before_the_window_ends_of_a_limit_that_is_used_up(driver: Driver, budget: str) -> None:
    with server([Answer(200, USER.body, {"RateLimit": budget}), USER]) as script:
        driver.connect(script.origin)
        driver.call("user", **ADA)
        started = time.monotonic()
        driver.call("user", **ADA)
    assert 0.8 < time.monotonic() - started < 4
    assert script.left == []


def test_what_a_window_has_left_is_counted_down_where_answers_do_not_say_it(driver: Driver) -> None:
    with server([Answer(200, USER.body, {"RateLimit": '"key";r=1;t=60'}), USER, USER]) as script:
        driver.connect(script.origin, patience=5)
        driver.call("user", **ADA)
        driver.call("user", **ADA)
        error = driver.refused("user", **ADA)
    assert error["kind"] == "WaitTooLongError"
    assert 55 <= error["retry_after"] <= 60
    assert len(script.left) == 1


def test_a_call_for_several_counts_as_many_requests_of_the_key_and_one_of_the_address(driver: Driver) -> None:
    left = Answer(200, "{}", {"RateLimit": '"key";r=6;t=2, "address";r=3;t=60'})
    with server([left, Answer(), Answer(), Answer()]) as script:
        driver.connect(script.origin)
        driver.call("presence", chat_id="1")
        started = time.monotonic()
        driver.call("presences", chat_ids=["268473310986240001"] * 20)
        driver.call("users", type="uid", values=[str(uid) for uid in range(31)])
        assert time.monotonic() - started < 1.5
        driver.call("users", type="uid", values=["1"])
    assert 1 < time.monotonic() - started < 4
    assert [request.method for request in script.asked] == ["GET", "GET", "POST", "POST"]
    assert json.loads(script.asked[3].body) == {"type": "uid", "values": ["1"]}


def test_a_call_for_several_users_is_a_read_and_is_sent_again(driver: Driver) -> None:
    with server([BUSY, Answer(200, '{"error":null,"results":[]}')]) as script:
        driver.connect(script.origin)
        assert driver.call("users", type="id", values=["a"], badges=True) == {"error": None, "results": []}
    assert [json.loads(request.body)["badges"] for request in script.asked] == [True, True]


@pytest.mark.parametrize("header", ["", "x" * 5000, '"key";r=a;t=2', '"key";t=2', '"key";r=0;t=', '"' * 900, "r=0;t=9"])
def test_a_budget_that_cannot_be_read_holds_nothing_back(driver: Driver, header: str) -> None:
    with server([Answer(200, USER.body, {"RateLimit": header}), USER]) as script:
        driver.connect(script.origin, patience=0)
        driver.call("user", **ADA)
        assert driver.call("user", **ADA) == FOUND
    assert script.left == []


def test_an_upload_is_sent_again_where_a_limit_refused_it(driver: Driver) -> None:
    with server([REFUSED, UPLOADED]) as script:
        driver.connect(script.origin)
        driver.call("upload", file=base64.b64encode(b"\x89PNG").decode(), name="picture.png")
    assert len(script.asked) == 2
    assert [request.headers["content-type"].partition(";")[0] for request in script.asked] == [
        "multipart/form-data"
    ] * 2


@pytest.mark.parametrize("first", [BUSY, Answer(500), Answer(0)], ids=str)
def test_an_upload_that_may_have_been_stored_is_not_sent_again(driver: Driver, first: Answer) -> None:
    with server([first, UPLOADED]) as script:
        driver.connect(script.origin)
        driver.refused("upload", file="AA==", name="picture.png")
    assert script.left == [UPLOADED]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_an_error_and_no_other_server_gets_the_key(driver: Driver, status: int) -> None:
    with server([USER]) as other, server([Answer(status, "", {"Location": f"{other.origin}/"})]) as script:
        driver.connect(script.origin)
        assert driver.refused("user", **ADA)["status"] == status
    assert other.asked == []


def test_the_key_is_in_its_header_and_in_nothing_that_is_printed(driver: Driver) -> None:
    refused = Answer(401, '{"error":"Invalid API key.","code":"INVALID_API_KEY"}')
    with server([refused, Answer(200, "[]"), Answer(0)]) as script:
        printed = driver.connect(script.origin, tries=1)
        printed += str(driver.refused("user", **ADA))
        driver.call("leaderboard", board="views", limit=3)
        printed += str(driver.refused("user", **ADA))
    assert script.sent("x-api-key") == [KEY, None, KEY]
    assert script.sent("authorization") == [None, f"Bearer {KEY}", None]
    assert all(KEY not in request.path for request in script.asked)
    assert KEY not in printed + driver.written()


def event(name: str, id: str, data: object) -> str:
    return f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n"


STREAM = {"Content-Type": "text/event-stream"}
START = "retry: 100\n\n"


def test_a_stream_that_breaks_off_goes_on_with_the_last_id_until_its_end(driver: Driver) -> None:
    answers = [
        Answer(200, START + event("presence", "a1", {"status": 1}) + ": heartbeat\n\nevent: pres", STREAM, is_cut=True),
        REFUSED,
        Answer(200, event("unavailable", "", {"error": "errors.presenceUnavailable"}), STREAM),
        Answer(200, event("presence", "b2", {"status": "ü"}) + event("gone", "", {"miss": "notMember"}) + "x", STREAM),
    ]
    with server(answers) as script:
        driver.connect(script.origin)
        events = driver.call("presence_events", chat_id="268473310986240001", count=9)
    assert [(each["name"], each["id"], each["data"]) for each in events] == [
        ("presence", "a1", {"status": 1}),
        ("unavailable", "", {"error": "errors.presenceUnavailable"}),
        ("presence", "b2", {"status": "ü"}),
        ("gone", "", {"miss": "notMember"}),
    ]
    assert script.sent("last-event-id") == [None, "a1", "a1", None]
    assert script.left == []


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_stream_that_never_brings_an_event_is_given_up(driver: Driver, is_cut: bool) -> None:
    with server([Answer(200, START, STREAM, is_cut=is_cut)] * 3) as script:
        driver.connect(script.origin, tries=2)
        error = driver.refused("presence_events", chat_id="268473310986240001", count=1)
    assert error["kind"] == "NoAnswerError"
    assert len(script.left) == 1


def test_a_stream_that_is_refused_is_an_error(driver: Driver) -> None:
    with server([MISS, USER]) as script:
        driver.connect(script.origin)
        assert driver.refused("presence_events", chat_id="1", count=1)["miss"] == "notMember"
    assert script.left == [USER]


def test_a_stream_of_several_members_goes_on_after_one_is_gone(driver: Driver) -> None:
    first = event("presence", "a", {"id": "1", "presence": {"id": "1"}})
    gone = 'event: gone\ndata: {"id":"2","error":"errors.lookupNotMember"}\n\n'
    answers = [
        Answer(200, START + first + gone, STREAM, is_cut=True),
        Answer(200, event("closed", "", {"error": "API Key not found", "code": "KEY_NOT_FOUND"}), STREAM),
    ]
    with server(answers) as script:
        driver.connect(script.origin)
        events = driver.call("presences_events", chat_ids=["1", "2"], count=9)
    assert [each["name"] for each in events] == ["presence", "gone", "closed"]
    assert [request.path.replace("%2C", ",") for request in script.asked] == ["/api/lookup/presence/events?ids=1,2"] * 2
    assert script.sent("last-event-id") == [None, "a"]
