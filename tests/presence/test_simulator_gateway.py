"""The simulated platform's gateway, as a client sees it that was written for these tests alone, and as hikari does."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from presence.simulator import guild, running
from presence.simulator.running import Simulator
from tests.presence.gateway_client import greeted, in_session, run

MIRA, NOOR, LENA = "268473310986250001", "268473310986250002", "268473310986250003"
BOT = "268473310000000001"


def ids(members: list[dict[str, Any]]) -> set[str]:
    return {member["user"]["id"] for member in members}


def test_a_beat_is_acknowledged_unless_it_is_not_to_be(simulator: Simulator) -> None:
    async def act() -> None:
        async with in_session(simulator) as client:
            await client.send(1, client.seq)
            assert await client.receive() == {"op": 11, "d": None, "s": None, "t": None}
            simulator.acks = False
            await client.send(1, client.seq)
            await client.ask(user_ids=[BOT])
            assert (await client.receive())["t"] == "GUILD_MEMBERS_CHUNK"

    run(act)


def test_a_client_that_says_nothing_is_cut_off() -> None:
    async def act() -> None:
        async with greeted(platform) as client:
            assert await client.closed() == aiohttp.WSCloseCode.ABNORMAL_CLOSURE

    with running.simulator(heartbeat_interval=0.01) as platform:
        run(act)


def test_ready_says_who_the_bot_is_and_where_to_resume(simulator: Simulator) -> None:
    async def act() -> None:
        async with greeted(simulator) as client:
            ready = await client.identify(shard=[0, 1])
            session_id, user = ready.pop("session_id"), ready.pop("user")
            assert len(session_id) == 32
            assert (user["id"], user["username"], user["bot"]) == (BOT, "presence-bot", True)
            assert ready == {
                "v": 10,
                "guilds": [{"id": simulator.guild_id, "unavailable": True}],
                "session_type": "normal",
                "resume_gateway_url": f"ws://127.0.0.1:{simulator.port}/resume",
                "shard": [0, 1],
                "application": {"id": BOT, "flags": 20_480},
                "presences": [],
                "private_channels": [],
                "relationships": [],
                "user_settings": {},
                "_trace": [],
            }

    run(act)


@pytest.mark.parametrize(("others", "is_large"), [(249, False), (250, True)])
def test_a_server_above_the_threshold_tells_only_of_those_who_stand_out(
    simulator: Simulator, others: int, is_large: bool
) -> None:
    simulator.add_member(MIRA, presence={"status": "idle"})
    simulator.add_member(NOOR, member={"nick": "Noor!"})
    simulator.add_member(LENA, member={"roles": ["268473310660000001"]})
    for number in range(others - 3):
        simulator.add_member(300000000000000000 + number)

    async def act() -> None:
        async with greeted(simulator) as client:
            await client.identify()
            told = await client.event("GUILD_CREATE")
            assert (told["id"], told["large"], told["member_count"]) == (simulator.guild_id, is_large, others + 1)
            assert len(told["members"]) == (4 if is_large else others + 1)
            assert ids(told["members"]) >= {BOT, MIRA, NOOR, LENA}
            assert told["presences"] == [
                {"user": {"id": MIRA}, "status": "idle", "client_status": {"desktop": "idle"}, "activities": []}
            ]

    run(act)


@pytest.mark.parametrize(("count", "is_too_large"), [(299, False), (300, True)])
def test_a_very_large_server_tells_of_the_bot_alone(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch, count: int, is_too_large: bool
) -> None:
    assert guild.TOO_LARGE == 75_000
    monkeypatch.setattr(guild, "TOO_LARGE", 300)
    simulator.populate(count)

    async def act() -> None:
        async with greeted(simulator) as client:
            await client.identify()
            told = await client.event("GUILD_CREATE")
            assert told["member_count"] == count + 1
            assert ((ids(told["members"]) == {BOT}), told["presences"] == []) == (is_too_large, is_too_large)

    run(act)


def test_each_change_of_a_member_is_told(simulator: Simulator) -> None:
    async def act() -> None:
        async with in_session(simulator) as client:
            simulator.add_member(MIRA, user={"username": "mira", "banner": "beef"}, presence={"status": "dnd"})
            added = await client.event("GUILD_MEMBER_ADD")
            user = added["user"]
            assert (added["guild_id"], user["id"], user["username"]) == (simulator.guild_id, MIRA, "mira")
            assert "banner" not in user  # only the account's own route is sure to hold it
            update = {"guild_id": simulator.guild_id, "user": {"id": MIRA}, "status": "dnd"}
            update |= {"client_status": {"desktop": "dnd"}, "activities": []}
            assert await client.event("PRESENCE_UPDATE") == update
            simulator.update_member(MIRA, member={"nick": "M"}, user={"global_name": "Mira"})
            user["global_name"] = "Mira"
            assert await client.event("GUILD_MEMBER_UPDATE") == {**added, "nick": "M", "user": user}
            simulator.set_presences({int(MIRA): {"status": "offline"}})
            update |= {"status": "offline", "client_status": {}}
            assert await client.event("PRESENCE_UPDATE") == update
            simulator.remove_member(MIRA)
            assert await client.event("GUILD_MEMBER_REMOVE") == {"guild_id": simulator.guild_id, "user": user}

    run(act)


def test_without_the_intent_nobody_hears_of_presences(simulator: Simulator) -> None:
    simulator.add_member(MIRA, presence={"status": "online"})

    async def act() -> None:
        async with greeted(simulator) as client:
            await client.identify(intents=3)
            assert (await client.event("GUILD_CREATE"))["presences"] == []
            simulator.set_presence(MIRA, {"status": "idle"})
            simulator.update_member(MIRA, member={"nick": "M"})
            assert (await client.event("GUILD_MEMBER_UPDATE"))["nick"] == "M"
            await client.ask(user_ids=[MIRA], presences=True)
            assert "presences" not in await client.event("GUILD_MEMBERS_CHUNK")

    run(act)


def test_every_session_hears_everything_with_numbers_of_its_own(simulator: Simulator) -> None:
    async def act() -> None:
        async with in_session(simulator) as first:
            simulator.dispatch("TYPING_START", {"at": 1})
            async with in_session(simulator) as second:
                simulator.dispatch("TYPING_START", {"at": 2})
                assert [await first.event("TYPING_START") for _ in range(2)] == [{"at": 1}, {"at": 2}]
                assert await second.event("TYPING_START") == {"at": 2}
                assert (first.seq, second.seq) == (4, 3)

    run(act)


def test_a_shard_without_the_server_hears_nothing_of_it(simulator: Simulator) -> None:
    shard = (int(simulator.guild_id) >> 22) % 2

    async def act() -> None:
        async with greeted(simulator) as client:
            assert (await client.identify(shard=[1 - shard, 2]))["guilds"] == []
            simulator.add_member(MIRA)
            await client.ask(query="", limit=0)
            await client.send(1, None)
            assert (await client.receive())["op"] == 11

    run(act)


def test_a_zlib_stream_is_one_stream_flushed_after_each_message(simulator: Simulator) -> None:
    async def act() -> None:
        async with greeted(simulator, "?v=10&encoding=json&compress=zlib-stream") as client:
            await client.identify()
            assert (await client.event("GUILD_CREATE"))["id"] == simulator.guild_id
            simulator.dispatch("TYPING_START", {})
            assert await client.event("TYPING_START") == {}
            frames = [frame for frame in client.frames if isinstance(frame, bytes)]
            assert len(frames) == 4
            assert {frame[-4:] for frame in frames} == {b"\x00\x00\xff\xff"}
            assert [frame[:1] == b"\x78" for frame in frames] == [True, False, False, False]  # one header

    run(act)


def test_an_outage_of_the_server_is_told_and_hides_what_happens(simulator: Simulator) -> None:
    async def act() -> None:
        async with in_session(simulator) as client:
            simulator.set_unavailable(True)
            assert await client.event("GUILD_DELETE") == {"id": simulator.guild_id, "unavailable": True}
            simulator.add_member(MIRA)
            await client.ask(query="", limit=0)
            async with greeted(simulator) as late:
                assert (await late.identify())["guilds"] == [{"id": simulator.guild_id, "unavailable": True}]
                await client.send(1, None)
                assert (await client.receive())["op"] == 11
                simulator.set_unavailable(False)
                for each in (client, late):
                    assert ids((await each.event("GUILD_CREATE"))["members"]) == {BOT, MIRA}

    run(act)
