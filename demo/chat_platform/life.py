"""Presence that changes by itself: now and then for each member, every few seconds for featured ones.

A scene is what a member's devices and activities are; it has next steps, and a presence object."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from demo import invented
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import World
from demo.invented import SeededRandom, seeded

words = invented.load("chat")
STATUSES = ("online", "online", "online", "idle", "dnd")
DEVICES = (("desktop",), ("desktop",), ("desktop", "mobile"), ("mobile",), ("web",), ("desktop", "web"))
PASTIMES = ("music", "music", "game", "game", "stream", "video", "editor")


@dataclass(frozen=True)
class Pastime:
    """`kind`: of PASTIMES. `number`: which of its kind; `step`: how far that has come."""

    kind: str
    number: int
    step: int
    started_at: int


@dataclass(frozen=True)
class Scene:
    """`devices`: with the status on each; none: offline. `custom`: number of a custom status."""

    devices: tuple[tuple[str, str], ...] = ()
    pastimes: tuple[Pastime, ...] = ()
    custom: int | None = None

    @property
    def status(self) -> str:
        statuses = {status for _, status in self.devices}
        return next((status for status in ("online", "idle", "dnd") if status in statuses), "offline")


OFFLINE = Scene()


def begin(rng: SeededRandom, now: int) -> Scene:
    """Return the first scene of a member who comes online."""
    custom = rng.randrange(len(words.STATUSES)) if rng.chance(0.4) else None
    scene = Scene(_devices(rng), (), custom)
    return replace(scene, pastimes=(_pastime(rng, now),)) if rng.chance(0.55) else scene


def go_on(scene: Scene, rng: SeededRandom, now: int, *, stays: bool = False) -> Scene:
    """Return the next scene, which may look alike. `stays`: the member does not go offline for long."""
    if not scene.devices:
        return begin(rng, now) if stays or rng.chance(0.5) else scene
    if rng.chance(0.05 if stays else 0.12):
        return replace(OFFLINE, custom=scene.custom)
    if rng.chance(0.2):
        return replace(scene, devices=_devices(rng))
    if rng.chance(0.15):
        return replace(scene, custom=rng.randrange(len(words.STATUSES)) if rng.chance(0.7) else None)
    if not scene.pastimes or (len(scene.pastimes) == 1 and rng.chance(0.2)):
        kinds = {pastime.kind for pastime in scene.pastimes}
        new = _pastime(rng, now)
        return scene if new.kind in kinds else replace(scene, pastimes=(*scene.pastimes, new))
    if rng.chance(0.15):
        return replace(scene, pastimes=scene.pastimes[1:])
    first, *others = scene.pastimes
    return replace(scene, pastimes=(_further(first, now), *others))


def _devices(rng: SeededRandom) -> tuple[tuple[str, str], ...]:
    return tuple((device, rng.pick(STATUSES)) for device in rng.pick(DEVICES))


def _pastime(rng: SeededRandom, now: int) -> Pastime:
    return Pastime(rng.pick(PASTIMES), rng.randrange(1000), rng.randrange(4), now - rng.randrange(90))


def _further(pastime: Pastime, now: int) -> Pastime:
    """Go on: a new track begins now; a game continues in its session."""
    started_at = now if pastime.kind == "music" else pastime.started_at
    return replace(pastime, step=pastime.step + 1, started_at=started_at)


def presence(scene: Scene, chat_id: str, name: str) -> Json:
    """Return the platform's object, without user and guild. The custom status comes first, as there."""
    custom = [_custom(scene.custom)] if scene.custom is not None and scene.devices else []
    activities = [ACTIVITIES[pastime.kind](pastime, chat_id, name) for pastime in scene.pastimes]
    return {"status": scene.status, "client_status": dict(scene.devices), "activities": [*custom, *activities]}


def _custom(number: int) -> Json:
    state, character = words.STATUSES[number]
    activity: Json = {"id": "custom", "name": "Custom Status", "type": 4, "state": state or None}
    if character is None:
        name, emoji_id, is_animated = words.CUSTOM_EMOJI[number % len(words.CUSTOM_EMOJI)]
        return {
            **activity,
            "emoji": {"name": name, "id": emoji_id, "animated": is_animated},
            "created_at": 1767225600000,
        }
    return {**activity, "emoji": {"name": character}, "created_at": 1767225600000}


def _music(pastime: Pastime, chat_id: str, name: str) -> Json:
    track = words.TRACKS[(pastime.number + pastime.step) % len(words.TRACKS)]
    start = pastime.started_at * 1000
    return {
        "id": "spotify:1",
        "name": "Spotify",
        "type": 2,
        "flags": 48,
        "sync_id": f"{abs(pastime.number * 31 + pastime.step):022d}",
        "session_id": f"{int(chat_id):032x}",
        "party": {"id": f"spotify:{chat_id}"},
        "details": track["title"],
        "state": track["artists"],
        "assets": {"large_image": f"spotify:{track['cover']}", "large_text": track["album"]},
        "timestamps": {"start": start, "end": start + track["seconds"] * 1000},
        "created_at": start,
    }


def _game(pastime: Pastime, chat_id: str, name: str) -> Json:
    game = words.GAMES[pastime.number % len(words.GAMES)]
    details, state = game["scenes"][pastime.step % len(game["scenes"])]
    activity: Json = {
        "id": f"{int(chat_id) % 16**12:x}",
        "name": game["name"],
        "type": 0,
        "flags": 0,
        "application_id": game["application_id"],
        "timestamps": {"start": pastime.started_at * 1000},
        "created_at": pastime.started_at * 1000,
    }
    if details:
        activity["details"] = details
    if state:
        activity["state"] = state
    if game["assets"]:
        activity["assets"] = game["assets"]
    return activity


def _stream(pastime: Pastime, chat_id: str, name: str) -> Json:
    title, category = words.STREAMS[(pastime.number + pastime.step) % len(words.STREAMS)]
    return {
        "id": f"{int(chat_id) % 16**12 + 1:x}",
        "name": "Twitch",
        "type": 1,
        "url": f"https://www.twitch.tv/{name}",
        "details": title,
        "state": category,
        "assets": {"large_image": f"twitch:{name}", "large_text": category},
        "created_at": pastime.started_at * 1000,
    }


def _video(pastime: Pastime, chat_id: str, name: str) -> Json:
    title, channel, video = words.VIDEOS[(pastime.number + pastime.step) % len(words.VIDEOS)]
    return {
        "id": f"{int(chat_id) % 16**12 + 2:x}",
        "name": "YouTube",
        "type": 3,
        "details": title,
        "state": channel,
        "assets": {"large_image": f"youtube:{video}", "large_text": channel},
        "timestamps": {"start": pastime.started_at * 1000},
        "created_at": pastime.started_at * 1000,
    }


def _editor(pastime: Pastime, chat_id: str, name: str) -> Json:
    file = words.FILES[(pastime.number + pastime.step) % len(words.FILES)]
    return {
        "id": f"{int(chat_id) % 16**12 + 3:x}",
        "name": "Code Editor",
        "type": 0,
        "application_id": words.EDITOR,
        "details": f"Editing {file}",
        "state": "Workspace: lounge",
        "assets": {
            "large_image": words.EDITOR_PICTURE,
            "small_image": words.EDITOR_PICTURE,
            "small_text": "Code Editor",
        },
        "created_at": pastime.started_at * 1000,
    }


ACTIVITIES = {"music": _music, "game": _game, "stream": _stream, "video": _video, "editor": _editor}


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
        scene = self._scenes.get(chat_id, OFFLINE)
        if chat_id not in self._scenes and before is not None:
            scene = begin(chance, now)
        for _ in range(MOST_TRIES):
            scene = go_on(scene, chance, now, stays=is_featured)
            after = presence(scene, chat_id, name)
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
