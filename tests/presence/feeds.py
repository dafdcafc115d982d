"""Gateway feeds in threads of their own, and what they tell."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from presence.feed import Dispatch, FatalFeedError, FeedEvent, SessionLost, SessionResumed, SessionStarted
from presence.hikari_feed import HikariFeed
from presence.pace import Pace
from presence.simulator.running import Simulator
from tests.presence.workers import wait_until

QUICK = Pace(first_pause=0.1, session_pause=1.0, longest_session_pause=4.0)
READY = SessionStarted(frozenset({268473310000000000}))


class Listener:
    """A feed in a thread of its own, and what it told."""

    def __init__(self, simulator: Simulator, token: str | None = None, pace: Pace = QUICK) -> None:
        self.events: list[FeedEvent] = []
        self.error: BaseException | None = None
        self._begun = threading.Event()
        self._pace = pace
        self._thread = threading.Thread(target=self._run, args=(simulator, token or simulator.bot_token))
        self._thread.start()
        assert self._begun.wait(10)

    def sessions(self) -> list[FeedEvent]:
        return [event for event in self.events if isinstance(event, SessionStarted | SessionResumed | SessionLost)]

    def told(self, name: str) -> list[Any]:
        """The payloads of an event. Any: JSON."""
        return [event.payload for event in list(self.events) if isinstance(event, Dispatch) and event.name == name]

    def ask(self, act: Callable[[HikariFeed], Any]) -> Any:
        """On the feed's event loop. Any: what `act` returns."""
        return asyncio.run_coroutine_threadsafe(act(self.feed), self._loop).result(10)

    def end(self) -> None:
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self.feed.close(), self._loop)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _run(self, simulator: Simulator, token: str) -> None:
        try:
            asyncio.run(self._listen(simulator, token))
        except FatalFeedError as error:
            self.error = error

    async def _listen(self, simulator: Simulator, token: str) -> None:
        self._loop = asyncio.get_running_loop()
        self.feed = HikariFeed(
            guild_id=int(simulator.guild_id), token=token, api_url=simulator.api_url, pace=self._pace
        )
        self._begun.set()
        await self.feed.run(self.events.append)


@contextmanager
def listening(simulator: Simulator, pace: Pace = QUICK) -> Iterator[Listener]:
    """From its first session on."""
    listener = Listener(simulator, pace=pace)
    try:
        wait_until(listener.sessions)
        yield listener
    finally:
        listener.end()
