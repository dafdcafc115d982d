"""The gateway feed over real sockets: sessions, their ends, and what is no event at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from presence.feed import FatalFeedError, FeedEvent, Garbage, SessionLost, SessionResumed
from presence.hikari_feed import FATAL_CODES
from presence.pace import Pace
from presence.simulator import running
from presence.simulator.running import Simulator
from tests.presence.feeds import READY, Listener, listening
from tests.presence.workers import wait_until

pytestmark = pytest.mark.live

ADA = 268473310000000011


@pytest.fixture
def platform() -> Iterator[Simulator]:
    with running.simulator() as started:
        started.add_member(ADA)
        yield started


def test_a_session_begins_with_the_chat_server(platform: Simulator) -> None:
    with listening(platform) as listener:
        wait_until(lambda: listener.told("GUILD_CREATE"))
        assert listener.events[0] == READY
        assert [guild["id"] for guild in listener.told("GUILD_CREATE")] == [platform.guild_id]
        wait_until(lambda: listener.feed.identifies_left == 999)


def test_payloads_are_told_raw_and_in_order(platform: Simulator) -> None:
    payloads = [{"number": number, "sync_id": "x", "vr": {"any": [None, 1.5, "é"]}} for number in range(500)]
    with listening(platform) as listener:
        for payload in payloads:
            platform.dispatch("PRESENCE_UPDATE", payload)
        wait_until(lambda: len(listener.told("PRESENCE_UPDATE")) >= len(payloads))
        assert listener.told("PRESENCE_UPDATE") == payloads


def test_it_asks_for_all_members_and_for_some(platform: Simulator) -> None:
    with listening(platform) as listener:
        assert listener.ask(lambda feed: feed.ask_for_all("full1"))
        assert listener.ask(lambda feed: feed.ask_for([ADA, 5], "ids1"))
        wait_until(lambda: len(listener.told("GUILD_MEMBERS_CHUNK")) == 2)
        both = listener.told("GUILD_MEMBERS_CHUNK")
        assert [(chunk["nonce"], "presences" in chunk, chunk.get("not_found")) for chunk in both] == [
            ("full1", True, None),
            ("ids1", True, ["5"]),
        ]


def test_after_a_drop_the_session_is_resumed_with_what_was_missed(platform: Simulator) -> None:
    with listening(platform) as listener:
        platform.drop()
        platform.dispatch("PRESENCE_UPDATE", {"missed": 1})
        wait_until(lambda: SessionResumed() in listener.events)
        assert listener.sessions() == [READY, SessionLost("dropped"), SessionResumed()]
        assert listener.told("PRESENCE_UPDATE") == [{"missed": 1}]
        assert (platform.counters.identifies, platform.counters.resumes) == (1, 1)


@pytest.mark.parametrize(
    ("act", "cause", "next_one"),
    [
        (lambda platform: platform.reconnect(), "op 7", SessionResumed()),
        (lambda platform: platform.invalidate(resumable=True), "op 9", SessionResumed()),
        (lambda platform: platform.invalidate(resumable=False), "op 9", READY),
        (lambda platform: platform.drop(sessions_too=True), "dropped", READY),
        (lambda platform: platform.close_with(4009), "dropped", READY),
        (lambda platform: platform.garble(), "dropped", READY),
    ],
    ids="op7 op9-resumable op9 no-resume timed-out corrupt".split(),
)
def test_every_end_but_a_fatal_one_is_survived(
    platform: Simulator, act: Callable[[Simulator], None], cause: str, next_one: FeedEvent
) -> None:
    with listening(platform) as listener:
        act(platform)
        wait_until(lambda: len(listener.sessions()) >= 3)
        assert listener.sessions() == [READY, SessionLost(cause), next_one]
        platform.dispatch("PRESENCE_UPDATE", {"after": 1})
        wait_until(lambda: listener.told("PRESENCE_UPDATE") == [{"after": 1}])


def test_the_fatal_close_codes_are_those_of_the_platform() -> None:
    assert {4004, 4010, 4011, 4012, 4013, 4014} == FATAL_CODES


@pytest.mark.parametrize("code", [4004, 4014])
def test_a_fatal_close_code_ends_it_at_once(platform: Simulator, code: int) -> None:
    with listening(platform) as listener:
        platform.close_with(code)
        wait_until(lambda: listener.error)
        assert f"code {code}" in str(listener.error)
        assert platform.counters.identifies == 1


@pytest.mark.parametrize("token", ["MjY4.wrong.token", "no token"])
def test_a_token_that_the_platform_refuses_ends_it(platform: Simulator, token: str) -> None:
    listener = Listener(platform, token)
    wait_until(lambda: listener.error)
    listener.end()
    assert isinstance(listener.error, FatalFeedError)


def test_a_connection_whose_heartbeats_stay_unanswered_is_given_up() -> None:
    with running.simulator(heartbeat_interval=0.3) as platform, listening(platform) as listener:
        platform.acks = False
        wait_until(lambda: SessionLost("dropped") in listener.events)
        platform.acks = True
        wait_until(lambda: SessionResumed() in listener.events)


def test_messages_that_are_none_end_nothing(platform: Simulator) -> None:
    with listening(platform) as listener:
        for text in ("no JSON", "null", "[]", '{"op":0}', "[" * 5000, '{"op":77,"d":null}'):
            platform.send_text(text)
        platform.dispatch("PRESENCE_UPDATE", None)
        platform.dispatch("RATE_LIMITED", {"retry_after": "x"})
        wait_until(lambda: listener.told("RATE_LIMITED"))
        assert (listener.told("PRESENCE_UPDATE"), listener.sessions()) == ([{}], [READY])
        assert listener.events.count(Garbage()) == 5


def test_it_begins_once_the_platform_is_there(platform: Simulator) -> None:
    platform.rest_is_down = True
    listener = Listener(platform)
    try:
        wait_until(lambda: platform.counters.rest)
        platform.rest_is_down = False
        wait_until(listener.sessions)
        assert listener.sessions() == [READY]
    finally:
        listener.end()


def test_it_can_be_closed_while_it_cannot_connect(platform: Simulator) -> None:
    platform.gateway_is_down = True
    listener = Listener(platform)
    wait_until(lambda: platform.counters.rest)
    listener.end()
    assert (listener.events, listener.error) == ([], None)


def _spend(platform: Simulator, listener: Listener, *, until: int) -> None:
    """End each session at once, until so many have begun."""
    for begun in range(1, until):
        wait_until(lambda begun=begun: listener.sessions().count(READY) == begun)  # type: ignore[misc]  # bound early
        platform.invalidate(resumable=False)
    wait_until(lambda: listener.sessions().count(READY) == until)


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [entry.message for entry in caplog.records if entry.name == "presence.hikari_feed"]


def test_sessions_that_end_at_once_begin_more_and_more_seldom(
    platform: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    with listening(platform, Pace(first_pause=0.1, session_pause=250.0, free_sessions=1)) as listener:
        _spend(platform, listener, until=1)
        platform.invalidate(resumable=False)
        wait_until(lambda: _warnings(caplog))
        assert platform.counters.identifies == 1
    assert [warning[:-6] for warning in _warnings(caplog)] == [
        "The gateway's sessions end too soon: the next one begins in "
    ]
    assert [entry.message for entry in caplog.records if entry.name == "asyncio"] == []


def test_after_the_pause_the_next_session_begins(platform: Simulator) -> None:
    started = time.monotonic()
    with listening(platform, Pace(first_pause=0.1, session_pause=5.0, free_sessions=1)) as listener:
        _spend(platform, listener, until=2)
        assert (platform.counters.identifies, time.monotonic() - started >= 5) == (2, True)


def test_sessions_that_last_begin_at_once(platform: Simulator, caplog: pytest.LogCaptureFixture) -> None:
    with listening(platform, Pace(first_pause=0.1, lasting=0.0, session_pause=600.0, free_sessions=1)) as listener:
        _spend(platform, listener, until=3)
    assert _warnings(caplog) == []


def test_where_few_sessions_are_left_even_the_second_one_waits(
    platform: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    platform.starts_left = 100
    with listening(platform) as listener:
        wait_until(lambda: listener.feed.identifies_left == 99)
        platform.invalidate(resumable=False)
        wait_until(lambda: len(_warnings(caplog)) == 2)
        assert platform.counters.identifies == 1
    assert _warnings(caplog)[0] == "Only 99 gateway sessions are left for today."
