"""The simulated platform's gateway, as a client sees it that was written for these tests alone."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from demo.chat_platform import running
from tests.presence.gateway_client import ALL_INTENTS, Client, Json, connected, greeted, in_session, run
from tests.support.chat_platform import Simulator

MIRA, NOOR, LENA = "268473310986250001", "268473310986250002", "268473310986250003"

BOT = "268473310000000001"


def ids(members: list[dict[str, Any]]) -> set[str]:
    return {member["user"]["id"] for member in members}


@run
async def test_a_client_that_says_nothing_is_cut_off() -> None:
    with Simulator.started(heartbeat_interval=0.01) as platform:
        async with greeted(platform) as client:
            assert await client.closed() == aiohttp.WSCloseCode.ABNORMAL_CLOSURE


@pytest.mark.parametrize(("others", "is_large"), [(249, False), (250, True)])
@run
async def test_a_server_above_the_threshold_tells_only_of_those_who_stand_out(
    simulator: Simulator, others: int, is_large: bool
) -> None:
    simulator.add_member(MIRA, presence={"status": "idle"})
    simulator.add_member(NOOR, member={"nick": "Noor!"})
    simulator.add_member(LENA, member={"roles": ["268473310660000001"]})
    for number in range(others - 3):
        simulator.add_member(300000000000000000 + number)
    async with greeted(simulator) as client:
        await client.identify()
        guild = await client.event("GUILD_CREATE")
        assert (guild["id"], guild["large"], guild["member_count"]) == (simulator.guild_id, is_large, others + 1)
        assert len(guild["members"]) == (4 if is_large else others + 1)
        assert ids(guild["members"]) >= {BOT, MIRA, NOOR, LENA}
        assert guild["presences"] == [
            {"user": {"id": MIRA}, "status": "idle", "client_status": {"desktop": "idle"}, "activities": []}
        ]


@run
async def test_each_change_of_a_member_is_sent(simulator: Simulator) -> None:
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


@run
async def test_without_the_intent_no_presence_is_sent(simulator: Simulator) -> None:
    simulator.add_member(MIRA, presence={"status": "online"})
    async with greeted(simulator) as client:
        await client.identify(intents=3)
        assert (await client.event("GUILD_CREATE"))["presences"] == []
        simulator.set_presence(MIRA, {"status": "idle"})
        simulator.update_member(MIRA, member={"nick": "M"})
        assert (await client.event("GUILD_MEMBER_UPDATE"))["nick"] == "M"
        await client.ask(user_ids=[MIRA], presences=True)
        assert "presences" not in await client.event("GUILD_MEMBERS_CHUNK")


@run
async def test_a_shard_without_the_server_hears_nothing_of_it(simulator: Simulator) -> None:
    shard = (int(simulator.guild_id) >> 22) % 2
    async with greeted(simulator) as client:
        assert (await client.identify(shard=[1 - shard, 2]))["guilds"] == []
        simulator.add_member(MIRA)
        await client.ask(query="", limit=0)
        await client.send(1, None)
        assert (await client.receive())["op"] == 11


STRANGER = "268473310986250009"


@run
async def test_presences_come_only_where_they_are_asked_for(simulator: Simulator) -> None:
    simulator.add_member(MIRA, presence={"status": "idle"})
    presence = {"user": {"id": MIRA}, "status": "idle", "client_status": {"desktop": "idle"}, "activities": []}
    async with in_session(simulator) as client:
        await client.ask(user_ids=[MIRA, STRANGER], presences=True)
        chunk = await client.event("GUILD_MEMBERS_CHUNK")
        assert [member["user"]["id"] for member in chunk.pop("members")] == [MIRA]
        assert chunk == {
            "guild_id": simulator.guild_id,
            "presences": [presence],
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [STRANGER],
        }
        await client.ask(user_ids=MIRA, nonce="x" * 33)
        chunk = await client.event("GUILD_MEMBERS_CHUNK")
        assert set(chunk) == {"guild_id", "members", "chunk_index", "chunk_count"}
    assert simulator.counters.member_requests == [[int(MIRA), int(STRANGER)], [int(MIRA)]]


@run
async def test_the_second_request_for_all_within_half_a_minute_is_too_early(simulator: Simulator) -> None:
    simulator.limits_full_requests = True
    async with in_session(simulator) as client:
        await client.ask(query="", limit=0, nonce="first")
        assert (await client.event("GUILD_MEMBERS_CHUNK"))["nonce"] == "first"
    async with in_session(simulator) as other:  # the limit is the bot's, not the session's
        await other.ask(query="", limit=0, nonce="second")
        limited = await other.event("RATE_LIMITED")
        assert 0 < limited.pop("retry_after") <= 30
        assert limited == {"opcode": 8, "meta": {"guild_id": simulator.guild_id, "nonce": "second"}}
        await other.ask(user_ids=[BOT])
        assert len((await other.event("GUILD_MEMBERS_CHUNK"))["members"]) == 1
        simulator.full_request_window = 0
        await other.ask(query="", limit=0, nonce="third")
        assert (await other.event("GUILD_MEMBERS_CHUNK"))["nonce"] == "third"
    assert (simulator.counters.full_requests, simulator.counters.refused_requests) == (3, 1)


async def session_of(platform: Simulator, client: Client) -> str:
    """A new session on this connection; its id."""
    session_id: str = (await client.identify())["session_id"]
    await client.event("GUILD_CREATE")
    return session_id


async def is_refused(client: Client) -> bool:
    """Whether the answer to RESUME is that there is nothing to resume."""
    return await client.receive() == {"op": 9, "d": False, "s": None, "t": None}


@pytest.mark.parametrize("compress", ["", "&compress=zlib-stream"])
@run
async def test_a_resumed_session_hears_what_it_missed_in_order(simulator: Simulator, compress: str) -> None:
    simulator.add_member(MIRA)
    async with greeted(simulator) as client:
        session_id = await session_of(simulator, client)
        simulator.update_member(MIRA, member={"nick": "heard"})
        await client.event("GUILD_MEMBER_UPDATE")
        simulator.drop()
        simulator.update_member(MIRA, member={"nick": "missed"})
        simulator.remove_member(MIRA)
    async with greeted(simulator, f"resume?v=10&encoding=json{compress}") as again:
        await again.resume(session_id, client.seq)
        assert (await again.event("GUILD_MEMBER_UPDATE"))["nick"] == "missed"
        assert (await again.event("GUILD_MEMBER_REMOVE"))["user"]["id"] == MIRA
        assert await again.event("RESUMED") == {"_trace": []}
        simulator.dispatch("TYPING_START", {})
        await again.event("TYPING_START")
        assert again.seq == 7
    assert (simulator.counters.identifies, simulator.counters.resumes) == (1, 1)


@pytest.mark.parametrize(("code", "is_over"), [(1000, True), (1001, True), (4900, False)])
@run
async def test_a_client_that_says_goodbye_has_no_session_any_more(
    simulator: Simulator, code: int, is_over: bool
) -> None:
    async with greeted(simulator) as client:
        session_id = await session_of(simulator, client)
        await client.socket.close(code=code)
    async with greeted(simulator) as again:
        await again.resume(session_id, client.seq)
        if is_over:
            assert await is_refused(again)
            assert (await again.identify())["session_id"] != session_id
        else:
            await again.event("RESUMED")


@pytest.mark.parametrize(("session", "seq"), [("own", 99), ("own", None), ("other", 2)])
@run
async def test_an_unknown_session_cannot_be_resumed(simulator: Simulator, session: str | None, seq: int | None) -> None:
    async with greeted(simulator) as client:
        own = await session_of(simulator, client)
        simulator.drop()
    async with greeted(simulator) as again:
        await again.send(
            6, {"token": simulator.bot_token, "session_id": own if session == "own" else session, "seq": seq}
        )
        assert await is_refused(again)
    assert simulator.counters.resumes == 0


def identify(**other: Any) -> Json:
    return {"op": 2, "d": {"token": running.TOKEN, "intents": ALL_INTENTS, "properties": {}, **other}}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        pytest.param(identify(token="another"), 4004, id="another token"),
        pytest.param({"op": 6, "d": {"token": "another", "session_id": "x", "seq": 1}}, 4004, id="resume, no token"),
        pytest.param(identify(intents=ALL_INTENTS | 1 << 15), 4014, id="an intent that was not granted"),
        pytest.param(identify(intents=-1), 4013, id="no intents"),
        pytest.param(identify(shard=[2, 2]), 4010, id="no such shard"),
        pytest.param({"op": 99, "d": None}, 4001, id="unknown op"),
        pytest.param({"op": 8, "d": {"guild_id": running.GUILD, "query": "", "limit": 0}}, 4003, id="too early"),
        pytest.param([1], 4002, id="no object"),
    ],
)
@run
async def test_what_is_wrong_is_answered_with_its_close_code(simulator: Simulator, message: Any, code: int) -> None:
    async with greeted(simulator) as client:
        await client.socket.send_str(json.dumps(message))
        assert await client.closed() == code
    assert simulator.counters.identifies == 0


@pytest.mark.parametrize(
    ("query", "code"), [("?v=9", 4012), ("?v=10&encoding=etf", 4002), ("?v=10&compress=zstd-stream", 4002)]
)
@run
async def test_another_version_encoding_or_compression_is_refused(simulator: Simulator, query: str, code: int) -> None:
    async with connected(simulator, query) as client:
        assert await client.closed() == code


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        pytest.param(2, {}, 4005, id="identify again"),
        pytest.param(8, {}, 4002, id="ask without names"),
        pytest.param(8, {"user_ids": ["1"] * 101}, 4002, id="ask for too many"),
    ],
)
@run
async def test_in_a_session_other_things_are_wrong(simulator: Simulator, op: int, data: Any, code: int) -> None:
    async with in_session(simulator) as client:
        await client.send(op, data)
        assert await client.closed() == code
