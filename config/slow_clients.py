"""How long the embedded default waits for a client, which no nginx does in its place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from django.conf import settings

RATE = 1_000  # bytes a second

T = TypeVar("T")


class Pace:
    """Measures one direction of a connection: RATE over settings.SLOW_CLIENT_SECONDS of waiting for the client."""

    def __init__(self) -> None:
        self._waited = 0.0
        self._moved = 0

    async def keep(self, step: Awaitable[T]) -> T:
        """Wait for the client. TimeoutError: it was too slow."""
        started_at = time.monotonic()
        async with asyncio.timeout(settings.SLOW_CLIENT_SECONDS - self._waited):
            result = await step
        self._waited += time.monotonic() - started_at
        return result

    def count(self, size: int) -> None:
        """Note `size` bytes that have moved."""
        self._moved += size
        if self._moved >= RATE * settings.SLOW_CLIENT_SECONDS:
            self._moved, self._waited = 0, 0.0
