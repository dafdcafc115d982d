"""The worker's thread for all that may wait: it is one of several, and outlives what breaks."""

from __future__ import annotations

import asyncio
import threading

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from presence.models import StoreEntry
from presence.worker.background import Background

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_of_them_do_not_wait_for_each_other() -> None:
    async def both() -> list[str]:
        slow, quick = Background("slow"), Background("quick")
        is_let_go, done = threading.Event(), []

        def wait() -> str:
            assert is_let_go.wait(30)
            return f"slow {StoreEntry.objects.count()}"

        waiting = asyncio.create_task(slow.do(wait))
        done.append(await quick.do(lambda: f"quick {StoreEntry.objects.count()}"))
        await quick.close(5)
        is_let_go.set()
        done.append(await waiting)
        await slow.close(5)
        return done

    assert asyncio.run(both()) == ["quick 0", "slow 0"]


@pytest.mark.parametrize("kind", [DatabaseError, InterfaceError])
def test_a_connection_is_looked_at_after_each_kind_of_failure(kind: type[Exception]) -> None:
    """InterfaceError, which a closed connection raises, is no DatabaseError."""

    def fail() -> None:
        connection.ensure_connection()
        connection.errors_occurred = True
        raise kind("It broke")

    async def fail_and_look() -> bool:
        background = Background("broken")
        with pytest.raises(kind, match="It broke"):
            await background.do(fail)
        is_doubtful = await background.do(lambda: connection.errors_occurred)
        await background.close(5)
        return is_doubtful

    assert asyncio.run(fail_and_look()) is False


def test_an_error_of_the_driver_is_one_of_django() -> None:
    """Closing a cursor of a connection that has just ended raises the driver's own, which would end the worker."""

    def fail() -> None:
        connection.ensure_connection()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    async def fail_and_look() -> bool:
        background = Background("broken")
        with pytest.raises(OperationalError, match="server closed the connection"):
            await background.do(fail)
        is_doubtful = await background.do(lambda: connection.errors_occurred)
        await background.close(5)
        return is_doubtful

    assert asyncio.run(fail_and_look()) is False
