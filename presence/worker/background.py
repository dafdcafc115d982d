"""A thread for calls that may wait for a store or a database, so that the event loop never does."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import Error as AnyDatabaseError
from django.db import connection, connections

from accounts import jobs

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Background:
    """Runs calls one after the other, on connections of its own.

    A daemon thread: a server that does not answer cannot keep the process from ending.
    """

    def __init__(self, name: str) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def do(
        self, act: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Call `act` there. Raises what it raises, errors of the database driver as Django's; a broken connection is
        dropped."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()

        def finish(settle: Callable[[], None]) -> None:
            if not done.done():  # the wait may have been cancelled
                settle()

        def work() -> None:
            settle: Callable[[], None]
            try:
                with connection.wrap_database_errors:  # Django does not when it closes a cursor after an error
                    settle = partial(done.set_result, act(*args, **kwargs))
            except BaseException as error:  # the caller gets it
                if isinstance(error, AnyDatabaseError):
                    jobs.let_go_of_connections()
                settle = partial(done.set_exception, error)
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(finish, settle)

        self._work.put(work)
        return await done

    async def close(self, seconds: float) -> None:
        """Finish the queued calls, waiting at most for so long."""
        self._work.put(None)
        give_up_at = asyncio.get_running_loop().time() + seconds
        while self._thread.is_alive() and asyncio.get_running_loop().time() < give_up_at:
            await asyncio.sleep(0.005)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()
        connections.close_all()
