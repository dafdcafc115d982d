"""Presence that changes by itself: now and then for each member, every few seconds for featured ones."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable

from demo.chat_platform import scenes
from demo.chat_platform.scenes import Scene
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import World
from demo.seeded_random import seeded

TICK = 1.0  # seconds
FEATURED_EVERY = 3  # ticks
EVERYBODY_IN = 120  # ticks, in which each member has about one turn
MOST_AT_ONCE = 20  # members in a tick, without the featured ones
MOST_TRIES = 50  # until something visible changes
UNSEEN = {"timestamps", "created_at", "id", "sync_id", "session_id", "party", "flags"}  # of an activity


class Life:
    """`step()` is one tick; `start()` lets them go on by the clock."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._featured: dict[str, None] = {}
        self._scenes: dict[str, Scene] = {}
        self._turns: dict[str, int] = {}
        self._ticks = 0
        self._task: asyncio.Task[None] | None = None

    def feature(self, chat_ids: Iterable[str]) -> None:
        self._featured.update(dict.fromkeys(chat_ids))

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._live())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self) -> None:
        while True:
            self.step(int(time.time()))
            await asyncio.sleep(TICK)

    def step(self, now: int) -> None:
        """Step; `now` in UNIX seconds. Featured members take their turns one after another, not all in one tick."""
        members = [chat_id for chat_id in self._featured if chat_id in self._world.members]
        for place, chat_id in enumerate(members):
            if (self._ticks + place) % FEATURED_EVERY == 0:
                self._move(chat_id, now, is_featured=True)
        for chat_id in self._others():
            self._move(chat_id, now, is_featured=False)
        self._ticks += 1

    def _others(self) -> list[str]:
        chance = seeded("tick", self._ticks)
        count = len(self._world.members) / EVERYBODY_IN
        picked = int(count) + chance.chance(count % 1)
        ids = list(self._world.members) if picked else []
        found = [chance.pick(ids) for _ in range(min(picked, MOST_AT_ONCE))]
        return [chat_id for chat_id in found if chat_id not in self._featured and chat_id != self._world.bot_id]

    def _move(self, chat_id: str, now: int, *, is_featured: bool) -> None:
        """Go to the next scene; a featured member to one that looks different."""
        turn = self._turns[chat_id] = self._turns.get(chat_id, 0) + 1
        chance = seeded("life", chat_id, turn)
        name = self._world.members[chat_id].user()["username"]
        before = self._world.presence(chat_id)
        scene = self._scenes.get(chat_id, scenes.OFFLINE)
        if chat_id not in self._scenes and before is not None:
            scene = scenes.begin(chance, now)
        for _ in range(MOST_TRIES):
            scene = scenes.go_on(scene, chance, now, stays=is_featured)
            after = scenes.presence(scene, chat_id, name)
            if not is_featured or _seen(after) != _seen(before):
                break
        self._scenes[chat_id] = scene
        if _seen(after) != _seen(before):
            self._world.set_presence(chat_id, after)


def _seen(presence: Json | None) -> str:
    """Return the visible part of a presence, as text."""
    presence = presence or {}
    activities = [
        {key: value for key, value in activity.items() if key not in UNSEEN}
        for activity in presence.get("activities", [])
        if isinstance(activity, dict)
    ]
    return json.dumps([presence.get("status", "offline"), presence.get("client_status") or {}, activities])
