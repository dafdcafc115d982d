"""The simulated platform's gateway: how a session is resumed, moved and lost."""

from __future__ import annotations

import asyncio

import pytest

from presence.simulator.running import Simulator
from tests.presence.gateway_client import Client, greeted, run

MIRA = "268473310986250001"


async def session_of(platform: Simulator, client: Client) -> str:
    """A new session on this connection; its id."""
    session_id: str = (await client.identify())["session_id"]
    await client.event("GUILD_CREATE")
    return session_id


async def is_refused(client: Client) -> bool:
    """Whether the answer to RESUME is that there is nothing to resume."""
    return await client.receive() == {"op": 9, "d": False, "s": None, "t": None}


@pytest.mark.parametrize("compress", ["", "&compress=zlib-stream"])
def test_a_resumed_session_hears_what_it_missed_in_order(simulator: Simulator, compress: str) -> None:
    simulator.add_member(MIRA)

    async def act() -> None:
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

    run(act)
    assert (simulator.counters.identifies, simulator.counters.resumes) == (1, 1)


@pytest.mark.parametrize(("code", "is_over"), [(1000, True), (1001, True), (4900, False)])
def test_a_client_that_says_goodbye_has_no_session_any_more(simulator: Simulator, code: int, is_over: bool) -> None:
    async def act() -> None:
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

    run(act)


@pytest.mark.parametrize(("session", "seq"), [("own", 99), ("own", None), ("other", 2)])
def test_what_nobody_knows_cannot_be_resumed(simulator: Simulator, session: str | None, seq: int | None) -> None:
    async def act() -> None:
        async with greeted(simulator) as client:
            own = await session_of(simulator, client)
            simulator.drop()
        async with greeted(simulator) as again:
            await again.send(
                6, {"token": simulator.bot_token, "session_id": own if session == "own" else session, "seq": seq}
            )
            assert await is_refused(again)

    run(act)
    assert simulator.counters.resumes == 0


def test_a_session_moves_to_the_connection_that_resumes_it(simulator: Simulator) -> None:
    async def act() -> None:
        async with greeted(simulator) as first:
            session_id = await session_of(simulator, first)
            async with greeted(simulator) as second:
                await second.resume(session_id, first.seq)
                await second.event("RESUMED")
                assert await first.closed() == 1006
                simulator.dispatch("TYPING_START", {})
                await second.event("TYPING_START")

    run(act)


@pytest.mark.parametrize(("code", "is_over"), [(4000, False), (4009, True), (4014, True)])
def test_the_platform_closes_every_connection(simulator: Simulator, code: int, is_over: bool) -> None:
    async def act() -> None:
        async with greeted(simulator) as client:
            session_id = await session_of(simulator, client)
            closing = asyncio.create_task(asyncio.to_thread(simulator.close_with, code))
            assert await client.closed() == code
            await closing
        async with greeted(simulator) as again:
            await again.resume(session_id, 2)
            if is_over:
                assert await is_refused(again)
            else:
                await again.event("RESUMED")

    run(act)
