"""A clock that only tests move, for both stores of limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import time_machine

from tests.accounts.clock import NOON, let_redis_pass
from tests.support import webhook_receiver
from tests.support.webhook_receiver import Receiver


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def wait(clock: time_machine.Traveller) -> Callable[[float], None]:
    """Let seconds pass, for Redis too where the service has one."""
    from django.conf import settings  # pytest may load this file before Django is set up

    def wait(seconds: float) -> None:
        clock.shift(timedelta(seconds=seconds))
        if settings.REDIS_URL:
            let_redis_pass(seconds)

    return wait


@pytest.fixture
def fresh(wait: Callable[[float], None]) -> None:
    """The clock stands, and no use of a key, noted by an earlier test, waits to be written."""
    from accounts.api_keys import uses

    uses.buffer.clear()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver.running() as receiver:
        yield receiver


@pytest.fixture
def another() -> Iterator[Receiver]:
    with webhook_receiver.running() as receiver:
        yield receiver
