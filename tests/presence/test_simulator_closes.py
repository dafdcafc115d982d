"""The simulated platform's gateway: what it closes a connection for, and with which code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from presence.simulator import running
from presence.simulator.running import Simulator
from tests.presence.gateway_client import ALL_INTENTS, Json, connected, greeted, in_session, run


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
def test_what_is_wrong_is_answered_with_its_close_code(simulator: Simulator, message: Any, code: int) -> None:
    async def act() -> None:
        async with greeted(simulator) as client:
            await client.socket.send_str(json.dumps(message))
            assert await client.closed() == code

    run(act)
    assert simulator.counters.identifies == 0


@pytest.mark.parametrize(
    ("query", "code"), [("?v=9", 4012), ("?v=10&encoding=etf", 4002), ("?v=10&compress=zstd-stream", 4002)]
)
def test_another_version_encoding_or_compression_is_refused(simulator: Simulator, query: str, code: int) -> None:
    async def act() -> None:
        async with connected(simulator, query) as client:
            assert await client.closed() == code

    run(act)


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        pytest.param(2, {}, 4005, id="identify again"),
        pytest.param(8, {}, 4002, id="ask for nobody"),
        pytest.param(8, {"user_ids": ["1"] * 101}, 4002, id="ask for too many"),
    ],
)
def test_in_a_session_other_things_are_wrong(simulator: Simulator, op: int, data: Any, code: int) -> None:
    async def act() -> None:
        async with in_session(simulator) as client:
            await client.send(op, data)
            assert await client.closed() == code

    run(act)


def test_more_than_120_messages_a_minute_are_too_many(simulator: Simulator) -> None:
    async def act() -> None:
        async with greeted(simulator) as client:
            for _ in range(120):
                await client.send(1, None)
                assert (await client.receive())["op"] == 11
            await client.send(1, None)
            assert await client.closed() == 4008

    run(act)
