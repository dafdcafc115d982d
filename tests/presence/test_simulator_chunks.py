"""The simulated platform's gateway: how members are asked for (op 8)."""

from __future__ import annotations

from presence.simulator.running import Simulator
from tests.presence.gateway_client import in_session, run

MIRA, NOOR = "268473310986250001", "268473310986250002"
BOT = "268473310000000001"
STRANGER = "268473310986250009"


def test_all_members_come_in_chunks_of_a_thousand(simulator: Simulator) -> None:
    chat_ids = {str(chat_id) for chat_id in simulator.populate(2100)}

    async def act() -> None:
        async with in_session(simulator) as client:
            await client.ask(query="", limit=0, presences=True, nonce="full1")
            chunks = [await client.event("GUILD_MEMBERS_CHUNK") for _ in range(3)]
            places = [(chunk["chunk_index"], chunk["chunk_count"], chunk["nonce"]) for chunk in chunks]
            assert places == [(0, 3, "full1"), (1, 3, "full1"), (2, 3, "full1")]
            assert [len(chunk["members"]) for chunk in chunks] == [1000, 1000, 101]
            assert {member["user"]["id"] for chunk in chunks for member in chunk["members"]} == {BOT, *chat_ids}
            statuses = [presence["status"] for chunk in chunks for presence in chunk["presences"]]
            assert 500 < len(statuses) < 900
            assert set(statuses) == {"online", "idle", "dnd"}

    run(act)
    assert (simulator.counters.full_requests, simulator.counters.member_requests) == (1, [])


def test_presences_come_only_where_they_are_asked_for(simulator: Simulator) -> None:
    simulator.add_member(MIRA, presence={"status": "idle"})
    told = {"user": {"id": MIRA}, "status": "idle", "client_status": {"desktop": "idle"}, "activities": []}

    async def act() -> None:
        async with in_session(simulator) as client:
            await client.ask(user_ids=[MIRA, STRANGER], presences=True)
            chunk = await client.event("GUILD_MEMBERS_CHUNK")
            assert [member["user"]["id"] for member in chunk.pop("members")] == [MIRA]
            assert chunk == {
                "guild_id": simulator.guild_id,
                "presences": [told],
                "chunk_index": 0,
                "chunk_count": 1,
                "not_found": [STRANGER],
            }
            await client.ask(user_ids=MIRA, nonce="x" * 33)
            chunk = await client.event("GUILD_MEMBERS_CHUNK")
            assert set(chunk) == {"guild_id", "members", "chunk_index", "chunk_count"}

    run(act)
    assert simulator.counters.member_requests == [[int(MIRA), int(STRANGER)], [int(MIRA)]]


def test_the_second_request_for_all_within_half_a_minute_is_too_early(simulator: Simulator) -> None:
    simulator.limits_full_requests = True

    async def act() -> None:
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

    run(act)
    assert (simulator.counters.full_requests, simulator.counters.refused_requests) == (3, 1)
