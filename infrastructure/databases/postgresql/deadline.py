"""A connection on which no statement waits for longer than a deadline: a server that hangs takes statements and answers
none, and neither `connect_timeout` nor `tcp_user_timeout` bounds that wait.

Web servers set the deadline above their `statement_timeout`, which ends long statements of a server that works. Jobs
and commands have no deadline: an error would cost more than the wait.
"""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors, generators

if TYPE_CHECKING:
    from psycopg.abc import RV, PQGen
    from psycopg.pq.abc import PGresult

seconds: float | None = None  # of this process


class NoAnswer(errors.OperationalError):
    """The server has not answered within the deadline."""


class Connection(psycopg.Connection[Any]):
    """`prepared`: the names of the statements that were prepared by hand."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.prepared = set[bytes]()
        self._arrivals = select.poll()  # of what the server sends
        self._arrivals.register(self.pgconn.socket, select.POLLIN)

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Run `gen` to its end. Raises NoAnswer after the deadline, unless `timeout` is given."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, seconds)
        except errors._WaitTimeout:
            raise self._given_up() from None

    def result(self) -> PGresult:
        """Return the last result of what was sent by hand. Raises NoAnswer after the deadline."""
        server = self.pgconn
        last: PGresult | None = None
        if server.flush():  # of a large value a part was sent
            results: list[PGresult] = self.wait(generators.execute(server))
            return results[-1]
        milliseconds = None if seconds is None else seconds * 1000
        while True:
            while server.is_busy():
                if not self._arrivals.poll(milliseconds):
                    raise self._given_up()
                server.consume_input()
            result = server.get_result()
            if result is None:  # after which libpq takes the next statement
                break
            last = result
        if last is None:
            raise errors.OperationalError("The connection to the database has ended.")
        return last

    def has_news(self) -> bool:
        """Return whether the server has sent anything since the last result, such as its end. No round trip."""
        return self.closed or bool(self._arrivals.poll(0))

    def _given_up(self) -> NoAnswer:
        self.pgconn.finish()  # a late answer must not reach the next statement
        return NoAnswer(f"The database has not answered within {seconds} s.")
