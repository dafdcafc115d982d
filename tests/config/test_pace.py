"""Which clients the embedded default waits for."""

from __future__ import annotations

import asyncio

import pytest
from pytest_django import Settings

from config.received_body import Pace

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("steps", "is_kept"),
    [
        ([(0.15, 10), (0.15, 10)], False),  # 20 bytes in 0.3 s
        ([(0.15, 200), (0.15, 10)], True),  # 200 bytes within 0.2 s, and another 0.2 s begin
        ([(0.0, 0)] * 50, True),
    ],
)
def test_the_pace_of_a_client(settings: Settings, steps: list[tuple[float, int]], *, is_kept: bool) -> None:
    settings.SLOW_CLIENT_SECONDS = 0.2

    async def go() -> bool:
        pace = Pace()
        try:
            for seconds, size in steps:
                await pace.keep(asyncio.sleep(seconds))
                pace.count(size)
        except TimeoutError:
            return False
        return True

    assert asyncio.run(go()) is is_kept
