"""Presence on the simulated platform changes by itself, believably, and the same way every time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from demo.chat_platform import members
from demo.chat_platform.life import FEATURED_EVERY, Life
from demo.chat_platform.world import Switches, World

NOW = 1_790_000_000


@pytest.fixture
def world() -> World:
    return new_world(40)


def new_world(count: int) -> World:
    world = World(guild_id="268473310000000000", bot_token="x", oauth_secret="", switches=Switches())
    for chat_id, name in ((members.ADA, "ada"), (members.CLEO, "cleo")):
        world.put_member(chat_id, members.featured_member(chat_id, name), profile=members.words.PROFILES[chat_id])
    members.fill(world, count)
    return world


def visible(world: World, chat_id: str) -> str:
    """The visible part of a presence, as text."""
    presence: Any = world.presence(chat_id) or {}
    kept = {"name", "type", "state", "details", "assets", "emoji"}
    activities = [{key: value for key, value in one.items() if key in kept} for one in presence.get("activities", [])]
    return json.dumps([presence.get("client_status"), activities])


@pytest.mark.parametrize("chat_id", [members.ADA, members.CLEO])
def test_a_featured_member_looks_otherwise_every_few_seconds(world: World, chat_id: str) -> None:
    alive = Life(world)
    alive.feature([members.ADA, members.CLEO])
    seen = []
    for tick in range(300):
        alive.step(NOW + tick)
        seen.append(visible(world, chat_id))
    for tick in range(FEATURED_EVERY, 300):
        assert seen[tick] != seen[tick - FEATURED_EVERY], tick
    assert seen.count("[null, []]") < 60  # mostly there


def test_chance_falls_the_same_way_every_time(world: World) -> None:
    twin = new_world(40)
    assert [member.text for member in twin.members.values()] == [member.text for member in world.members.values()]
    lives = Life(world), Life(twin)
    for tick in range(200):
        for alive in lives:
            alive.step(NOW + tick)
    assert [visible(world, chat_id) for chat_id in world.members] == [
        visible(twin, chat_id) for chat_id in twin.members
    ]
