"""What is asked of the chat platform over REST, against the simulated one and against servers that misbehave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from pytest_django import Settings

from infrastructure import http_client
from presence.answer import rest
from presence.answer.rest import Membership, RestUnavailable
from tests.presence import reading
from tests.presence.lookups import ADA
from tests.presence.reading import Clock, Reply, Server
from tests.support.chat_platform import Simulator

Ask = Callable[[], object]
ASKS = {"membership": lambda: rest.membership(ADA), "banner": lambda: rest.banner(ADA)}
EITHER = pytest.mark.parametrize("ask", ASKS.values(), ids=list(ASKS))


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    with reading.standing_still() as clock:
        yield clock


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """A platform that answers as the test says."""
    with reading.server() as server:
        settings.CHAT = replace(settings.CHAT, guild_id="268473310000000000", bot_token="token", api_url=server.url)
        yield server


def _reply(server: Server, reply: Reply) -> None:
    """To both questions."""
    server.replies = {f"/guilds/268473310000000000/members/{ADA}": reply, f"/users/{ADA}": reply}


def _refused(ask: Ask) -> int:
    """After how many seconds it may be asked again."""
    with pytest.raises(RestUnavailable) as error:
        ask()
    return error.value.retry_after


@pytest.mark.parametrize("banner", [17, "", "../../x", "x" * 200, ["a"]])
def test_a_banner_that_is_no_hash_is_none(server: Server, banner: object) -> None:
    _reply(server, Reply(body=(json.dumps({"banner": banner}).encode(),)))
    assert rest.banner(ADA) is None


def test_the_bot_says_who_it_is_and_nothing_else_travels(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    _reply(server, Reply(headers={"Set-Cookie": "session=1; Path=/"}))
    for _ in range(2):
        rest.membership(ADA)
    for _, headers in server.asked:
        assert headers["Authorization"] == "Bot token"
        assert headers["User-Agent"].startswith("DiscordBot (http")
        assert "Cookie" not in headers


UNUSABLE = {
    "another error code": Reply(404, (b'{"code": 10004}',)),
    "a 404 of something else": Reply(404, (b"<html>not here</html>",)),
    "an invalid form": Reply(400, (b'{"code": 50035}',)),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_an_answer_that_says_nothing_of_a_member_is_no_miss(server: Server, case: str) -> None:
    for _ in range(9):  # nor is the platform to blame
        _reply(server, UNUSABLE[case])
        assert _refused(lambda: rest.membership(ADA)) == 5
    assert len(server.asked) == 9


BROKEN = {
    "down": Reply(503, (b"upstream connect error",)),
    "an error that names a member unknown": Reply(500, (b'{"code": 10007}',)),
    "no JSON": Reply(200, (b"<html>",)),
    "no text": Reply(200, (b"\xff\xfe",)),
    "nested beyond reason": Reply(200, (b"[" * 100_000,)),
    "a number of thousands of digits": Reply(200, (b'{"banner":' + b"9" * 9000 + b"}",)),
    "too long": Reply(200, (b'{"a":"', b"x" * http_client.MOST_BYTES, b'"}')),
    "a redirect": Reply(302, (b"{}",), {"Location": "/elsewhere"}),
    "cut": Reply(200, (b'{"a"',), {"Content-Length": "500"}),
    "not what it says": Reply(200, (b"{}",), {"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_answer_says_nothing(server: Server, case: str) -> None:
    _reply(server, BROKEN[case])
    assert [_refused(ask) for ask in ASKS.values()] == [5, 5]
    assert len(server.asked) == 2


@pytest.mark.parametrize("body", [(None,), (0.15, b"{", 0.15, b" ", 0.15, b"}", None)])
def test_no_caller_waits_long_for_an_answer(
    server: Server, monkeypatch: pytest.MonkeyPatch, body: tuple[bytes | float | None, ...]
) -> None:
    monkeypatch.setattr(http_client, "SECONDS", 0.2)
    _reply(server, Reply(200, body))
    assert _refused(ASKS["membership"]) == 5


@EITHER
def test_without_a_chat_server_no_request_is_sent(server: Server, settings: Settings, ask: Ask) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="")
    assert (_refused(ask), server.asked) == (60, [])


@EITHER
def test_after_five_failures_in_a_row_the_platform_is_left_alone_for_five_seconds(
    simulator: Simulator, clock: Clock, ask: Ask
) -> None:
    simulator.add_member(ADA)
    simulator.rest_is_down = True
    for _ in range(5):
        _refused(ask)
    simulator.rest_is_down = False
    assert (_refused(ask), len(simulator.counters.rest)) == (5, 5)
    clock.wait(4.9)
    assert (_refused(ask), len(simulator.counters.rest)) == (1, 5)
    clock.wait(0.1)
    ask()
    assert len(simulator.counters.rest) == 6


def test_four_failures_and_an_answer_begin_anew(simulator: Simulator, clock: Clock) -> None:
    for _ in range(3):
        simulator.rest_is_down = True
        for _ in range(4):
            assert _refused(lambda: rest.membership(ADA)) == 5
        simulator.rest_is_down = False
        assert rest.membership(ADA) is Membership.NOT_FOUND
        clock.wait(1)


def test_after_a_pause_one_call_tries_and_the_others_wait_for_it(server: Server, clock: Clock) -> None:
    _reply(server, Reply(500))
    for _ in range(5):
        _refused(lambda: rest.membership(ADA))
    clock.wait(5)
    refused: list[int] = []

    def meanwhile() -> None:
        refused.extend(_refused(lambda: rest.membership(ADA)) for _ in range(3))

    server.before_answer = meanwhile
    _refused(lambda: rest.membership(ADA))
    assert (refused, len(server.asked)) == ([5, 5, 5], 6)


@EITHER
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_bot_asks_no_more_for_a_minute(server: Server, clock: Clock, ask: Ask, status: int) -> None:
    _reply(server, Reply(status, (b'{"code": 0}',)))
    assert [_refused(ask) for _ in range(2)] == [60, 60]
    clock.wait(59)
    assert (_refused(ask), len(server.asked)) == (1, 1)
    clock.wait(1)
    assert (_refused(ask), len(server.asked)) == (60, 2)


WAITS = {
    "seconds": ("7", 7),
    "fractions": ("0.65", 1),
    "for ever": ("999999999", 600),
    "nothing": (None, 1),
    "a date": ("Wed, 21 Oct 2026 07:28:00 GMT", 1),
    "too many digits": ("9" * 5000, 1),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_platform_that_wants_rest_gets_it(server: Server, case: str) -> None:
    said, seconds = WAITS[case]
    _reply(server, Reply(429, (b'{"retry_after": 3}',), {"Retry-After": said} if said else {}))
    assert [_refused(lambda: rest.membership(ADA)) for _ in range(2)] == [seconds, seconds]
    assert len(server.asked) == 1


@pytest.mark.embedded
def test_ten_calls_a_second_and_no_more(simulator: Simulator, clock: Clock, settings: Settings) -> None:
    settings.RATE_LIMITS_ENABLED = False  # which is about callers
    for _ in range(10):
        rest.membership(ADA)
    for _ in range(3):
        assert _refused(lambda: rest.membership(ADA)) == 1
    assert len(simulator.counters.rest) == 10
    clock.wait(1)
    rest.membership(ADA)


@pytest.mark.embedded
def test_banners_leave_three_calls_a_second_to_memberships(simulator: Simulator, clock: Clock) -> None:
    for _ in range(7):
        rest.banner(ADA)
    assert _refused(lambda: rest.banner(ADA)) == 1
    for _ in range(3):
        rest.membership(ADA)
    assert _refused(lambda: rest.membership(ADA)) == 1
    assert len(simulator.counters.rest) == 10
