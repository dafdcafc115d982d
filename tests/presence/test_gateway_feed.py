"""The gateway feed over real sockets: sessions, their ends, and what is no event at all."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from presence.gateway.hikari_feed import FATAL_CODES, HikariFeed
from presence.gateway.payloads import Dispatch, FatalFeedError, FeedEvent, SessionLost, SessionResumed, SessionStarted
from presence.intervals import Intervals
from tests.presence.workers import wait_until
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.live

ADA = 268473310000000011
QUICK = Intervals(first_pause=0.1, session_pause=1.0, longest_session_pause=4.0)

READY = SessionStarted(frozenset({268473310000000000}))


class Listener:
    """A feed in a thread of its own, and what it received."""

    def __init__(self, simulator: Simulator, intervals: Intervals = QUICK) -> None:
        self.events: list[FeedEvent] = []
        self.error: BaseException | None = None
        self._begun = threading.Event()
        self._intervals = intervals
        self._thread = threading.Thread(target=self._run, args=(simulator,))
        self._thread.start()
        assert self._begun.wait(10)

    def sessions(self) -> list[FeedEvent]:
        return [event for event in self.events if isinstance(event, SessionStarted | SessionResumed | SessionLost)]

    def received(self, name: str) -> list[Any]:
        """The payloads of an event."""
        return [event.payload for event in list(self.events) if isinstance(event, Dispatch) and event.name == name]

    def ask(self, act: Callable[[HikariFeed], Any]) -> Any:
        """On the feed's event loop."""
        return asyncio.run_coroutine_threadsafe(act(self.feed), self._loop).result(10)

    def end(self) -> None:
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self.feed.close(), self._loop)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _run(self, simulator: Simulator) -> None:
        try:
            asyncio.run(self._listen(simulator))
        except FatalFeedError as error:
            self.error = error

    async def _listen(self, simulator: Simulator) -> None:
        self._loop = asyncio.get_running_loop()
        self.feed = HikariFeed(
            guild_id=int(simulator.guild_id),
            token=simulator.bot_token,
            api_url=simulator.api_url,
            intervals=self._intervals,
        )
        self._begun.set()
        await self.feed.run(self._hear)

    def _hear(self, event: FeedEvent) -> None:
        if isinstance(event, Dispatch) and event.payload.get("is_unforeseen"):
            raise ZeroDivisionError
        self.events.append(event)


@contextmanager
def listening(simulator: Simulator, intervals: Intervals = QUICK) -> Iterator[Listener]:
    """From its first session on."""
    listener = Listener(simulator, intervals)
    try:
        wait_until(listener.sessions)
        yield listener
    finally:
        listener.end()


@pytest.fixture
def platform() -> Iterator[Simulator]:
    with Simulator.started() as started:
        started.add_member(ADA)
        yield started


def test_a_session_begins_with_the_chat_server(platform: Simulator) -> None:
    with listening(platform) as listener:
        wait_until(lambda: listener.received("GUILD_CREATE"))
        assert listener.events[0] == READY
        assert [guild["id"] for guild in listener.received("GUILD_CREATE")] == [platform.guild_id]
        wait_until(lambda: listener.feed.identifies_left == 999)


def test_payloads_are_reported_raw_and_in_order(platform: Simulator) -> None:
    payloads = [{"number": number, "sync_id": "x", "vr": {"any": [None, 1.5, "é"]}} for number in range(500)]
    with listening(platform) as listener:
        for payload in payloads:
            platform.dispatch("PRESENCE_UPDATE", payload)
        wait_until(lambda: len(listener.received("PRESENCE_UPDATE")) >= len(payloads))
        assert listener.received("PRESENCE_UPDATE") == payloads


def test_an_event_that_no_code_foresaw_costs_itself_alone(platform: Simulator) -> None:
    with listening(platform) as listener:
        for payload in ({"is_unforeseen": True}, {"number": 1}):
            platform.dispatch("PRESENCE_UPDATE", payload)
        wait_until(lambda: listener.received("PRESENCE_UPDATE"))
        assert (listener.received("PRESENCE_UPDATE"), listener.sessions()) == ([{"number": 1}], [READY])


def test_it_asks_for_all_members_and_for_some(platform: Simulator) -> None:
    with listening(platform) as listener:
        assert listener.ask(lambda feed: feed.ask_for_all("full1"))
        assert listener.ask(lambda feed: feed.ask_for([ADA, 5], "ids1"))
        wait_until(lambda: len(listener.received("GUILD_MEMBERS_CHUNK")) == 2)
        both = listener.received("GUILD_MEMBERS_CHUNK")
        assert [(chunk["nonce"], "presences" in chunk, chunk.get("not_found")) for chunk in both] == [
            ("full1", True, None),
            ("ids1", True, ["5"]),
        ]


@pytest.mark.parametrize(
    ("act", "cause", "next_one"),
    [
        (lambda platform: platform.drop(), "dropped", SessionResumed()),
        (lambda platform: platform.reconnect(), "op 7", SessionResumed()),
        (lambda platform: platform.invalidate(resumable=True), "op 9", SessionResumed()),
        (lambda platform: platform.invalidate(resumable=False), "op 9", READY),
        (lambda platform: platform.drop(sessions_too=True), "dropped", READY),
        (lambda platform: platform.close_with(4009), "dropped", READY),
        (lambda platform: platform.garble(), "dropped", READY),
    ],
    ids="drop op7 op9-resumable op9 no-resume timed-out corrupt".split(),
)
def test_every_end_but_a_fatal_one_is_survived(
    platform: Simulator, act: Callable[[Simulator], None], cause: str, next_one: FeedEvent
) -> None:
    with listening(platform) as listener:
        act(platform)
        platform.dispatch("PRESENCE_UPDATE", {"missed": 1})
        wait_until(lambda: len(listener.sessions()) >= 3)
        assert listener.sessions() == [READY, SessionLost(cause), next_one]
        platform.dispatch("PRESENCE_UPDATE", {"after": 1})
        missed = [{"missed": 1}] if next_one == SessionResumed() else []
        wait_until(lambda: listener.received("PRESENCE_UPDATE") == [*missed, {"after": 1}])


def test_the_fatal_close_codes_are_those_of_the_platform() -> None:
    assert {4004, 4010, 4011, 4012, 4013, 4014} == FATAL_CODES


def test_a_connection_whose_heartbeats_stay_unanswered_is_given_up() -> None:
    with Simulator.started(heartbeat_interval=0.3) as platform, listening(platform) as listener:
        platform.acks = False
        wait_until(lambda: SessionLost("dropped") in listener.events)
        platform.acks = True
        wait_until(lambda: SessionResumed() in listener.events)


def test_after_an_outage_it_is_back_soon(platform: Simulator) -> None:
    """Of seven seconds: the library alone would look again after 6 to 12."""
    quick = Intervals(first_pause=0.1, longest_pause=0.3, connect_patience=0.5, free_sessions=9)
    with listening(platform, quick) as listener:
        platform.gateway_is_down = True
        platform.drop()
        wait_until(lambda: SessionLost("dropped") in listener.events)
        time.sleep(7)
        platform.gateway_is_down = False
        back_at = time.monotonic()
        wait_until(lambda: len(listener.sessions()) == 3)
        assert listener.sessions()[-1] == READY
        assert time.monotonic() - back_at < 3


def test_it_can_be_closed_while_it_cannot_connect(platform: Simulator) -> None:
    platform.gateway_is_down = True
    listener = Listener(platform)
    wait_until(lambda: platform.counters.rest)
    listener.end()
    assert (listener.events, listener.error) == ([], None)


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [entry.message for entry in caplog.records if entry.name == "presence.gateway.hikari_feed"]


def test_sessions_that_end_at_once_begin_more_and_more_seldom(
    platform: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    with listening(platform, Intervals(first_pause=0.1, session_pause=250.0, free_sessions=1)):
        platform.invalidate(resumable=False)
        wait_until(lambda: _warnings(caplog))
        assert platform.counters.identifies == 1
    assert [warning[:-6] for warning in _warnings(caplog)] == [
        "The gateway's sessions end too soon: the next one begins in "
    ]
    assert [entry.message for entry in caplog.records if entry.name == "asyncio"] == []


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
