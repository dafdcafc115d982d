"""The gateway feed over real sockets: sessions, their ends, and what is no event at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from presence.feed import FatalFeedError, FeedEvent, Garbage, SessionLost, SessionResumed
from presence.simulator import running
from presence.simulator.running import Simulator
from tests.presence.feeds import READY, Listener, listening
from tests.presence.workers import wait_until

pytestmark = pytest.mark.once

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
        (lambda platform: platform.close_with(4000), "dropped", SessionResumed()),
        (lambda platform: platform.close_with(4009), "dropped", READY),
        (lambda platform: platform.close_with(1000), "dropped", SessionResumed()),
        (lambda platform: platform.close_with(4003), "dropped", READY),
        (lambda platform: platform.garble(), "dropped", READY),
        (lambda platform: platform.send_text("null"), None, None),
    ],
    ids="op7 op9-resumable op9 no-resume unknown-error timed-out normal not-authenticated corrupt null".split(),
)
def test_every_end_but_a_fatal_one_is_survived(
    platform: Simulator, act: Callable[[Simulator], None], cause: str | None, next_one: FeedEvent | None
) -> None:
    with listening(platform) as listener:
        act(platform)
        if cause:
            wait_until(lambda: len(listener.sessions()) >= 3)
            assert listener.sessions() == [READY, SessionLost(cause), next_one]
        platform.dispatch("PRESENCE_UPDATE", {"after": 1})
        wait_until(lambda: listener.told("PRESENCE_UPDATE") == [{"after": 1}])


@pytest.mark.parametrize("code", [4004, 4010, 4011, 4012, 4013, 4014])
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


@pytest.mark.parametrize(
    "text",
    [
        *["", "no JSON", "[]", "5", '"x"', "{}", '{"op":0}', '{"op":0,"t":5,"d":{},"s":1}', '{"op":[]}', "[" * 5000],
        *['{"op":77,"d":null}', '{"op":0,"t":"X","d":' + '{"a":' * 3000 + "1" + "}" * 3000 + ',"s":2}'],
    ],
    ids="empty text list number string empty-object bare no-name odd-op deep unknown-op deep-payload".split(),
)
def test_a_message_that_is_none_ends_nothing(platform: Simulator, text: str) -> None:
    with listening(platform) as listener:
        platform.send_text(text)
        platform.dispatch("PRESENCE_UPDATE", {"after": 1})
        wait_until(lambda: listener.told("PRESENCE_UPDATE"))
        assert listener.sessions() == [READY]


@pytest.mark.parametrize("payload", [None, [], 5, "x", True], ids=str)
def test_a_dispatch_without_an_object_is_told_as_an_empty_one(platform: Simulator, payload: Any) -> None:
    with listening(platform) as listener:
        platform.dispatch("PRESENCE_UPDATE", payload)
        wait_until(lambda: listener.told("PRESENCE_UPDATE"))
        assert (listener.told("PRESENCE_UPDATE"), listener.sessions()) == ([{}], [READY])


@pytest.mark.parametrize("payload", [None, {}, {"opcode": "8", "retry_after": "x", "meta": None}], ids=str)
def test_a_bad_rate_limit_is_mended(platform: Simulator, payload: Any) -> None:
    with listening(platform) as listener:
        platform.dispatch("RATE_LIMITED", payload)
        wait_until(lambda: listener.told("RATE_LIMITED"))
        ((limit,), sessions) = listener.told("RATE_LIMITED"), listener.sessions()
        assert (limit["opcode"], limit["retry_after"], sessions) == (-1, 30.0, [READY])


def test_a_number_of_thousands_of_digits_costs_nothing_else(platform: Simulator) -> None:
    with listening(platform) as listener:
        payload = f'{{"huge":{"9" * 5000},"fine":12}}'
        platform.send_text(f'{{"op":0,"t":"PRESENCE_UPDATE","s":3,"d":{payload}}}')
        wait_until(lambda: listener.told("PRESENCE_UPDATE"))
        assert listener.told("PRESENCE_UPDATE") == [{"huge": None, "fine": 12}]


def test_garbage_is_told(platform: Simulator) -> None:
    with listening(platform) as listener:
        platform.send_text("no JSON")
        wait_until(lambda: Garbage() in listener.events)


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


def test_few_sessions_left_are_warned_of(platform: Simulator, caplog: pytest.LogCaptureFixture) -> None:
    platform.starts_left = 100
    with listening(platform) as listener:
        wait_until(lambda: listener.feed.identifies_left == 99)
    messages = [entry.message for entry in caplog.records if entry.name == "presence.hikari_feed"]
    assert messages == ["Only 99 gateway sessions are left for today."]
