"""A connection to Redis that each thread holds, for the paths where every request makes one round trip.

The client library takes a connection from its pool for each command and gives it back: most of the time of a short
command. It still makes the connections here, so that addresses, passwords, TLS and sentinels are as in CACHES.
"""

from __future__ import annotations

import hashlib
import os
import socket
import ssl
import struct
import threading
import weakref
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, ClassVar, cast

import hiredis
from redis import Redis
from redis.client import Pipeline
from redis.connection import Connection
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswer

from infrastructure.metrics import engine_time

Part = str | bytes | int
Command = tuple[Part, ...]
Reply = Any  # what a command answers: bytes, int, None, a list of these
READ_SIZE = 65_536


def _client_of_cache() -> Any:
    from django_redis import get_redis_connection  # only where Redis is configured

    return get_redis_connection("default")


class RedisConnection:
    """A connection for each thread to the Redis of the default cache. A forked process makes new ones.

    Every method raises RedisError where Redis does not answer or refuses. A connection that has ended, such as by a
    restart of Redis, is replaced once.
    """

    def __init__(self, client: Callable[[], Any] = _client_of_cache) -> None:
        """`client`: the client library's (Any), of another server than that of the default cache."""
        self._client = client
        self._held = threading.local()

    def call(self, *command: Part) -> Reply:
        """Return the reply to one command. 1 round trip."""
        return self.pipeline(command)[0]

    def pipeline(self, *commands: Command, meanwhile: Callable[[], object] | None = None) -> list[Reply]:
        """Return the replies to several commands, sent at once. 1 round trip. Raises the first error among them.

        `meanwhile`: called while Redis works.
        """
        if not engine_time.is_on():
            return self._replies(commands, meanwhile)
        began_at = perf_counter()
        try:
            return self._replies(commands, meanwhile)
        finally:
            call = engine_time.kind_of_command(commands[0][0]) if len(commands) == 1 else engine_time.PIPELINE
            engine_time.note(engine_time.REDIS, call, began_at)

    def _replies(self, commands: Sequence[Command], meanwhile: Callable[[], object] | None) -> list[Reply]:
        packed = b"".join([hiredis.pack_command(command) for command in commands])  # type: ignore[arg-type]  # its stub has a tuple of one
        wire = self._wire()
        try:
            replies = wire.exchange(packed, len(commands), meanwhile)
        except (OSError, hiredis.ProtocolError) as error:
            self._close()
            if isinstance(error, (TimeoutError, BlockingIOError)):
                raise NoAnswer("Redis does not answer in time.") from error
            replies = self._exchange_again(packed, len(commands))
        except BaseException:  # what comes on this connection would answer the next command
            self._close()
            raise
        for reply in replies:
            if isinstance(reply, hiredis.ReplyError):
                if str(reply).startswith("READONLY"):  # a replica since a failover: the address leads elsewhere now
                    self._close()
                raise _named(reply)
        return replies

    def script(
        self,
        script: Script,
        keys: Sequence[str],
        arguments: Sequence[Part],
        *after: Command,
        meanwhile: Callable[[], object] | None = None,
    ) -> list[Reply]:
        """Run a script by its SHA-1, then the commands `after` it; load it first where Redis does not know it.

        Return all replies, the script's first. 1 round trip, else 3. `meanwhile`: as `pipeline`.
        """
        run = ("EVALSHA", script.sha, len(keys), *keys, *arguments)
        try:
            return self.pipeline(run, *after, meanwhile=meanwhile)
        except NoScriptError:
            self.call("SCRIPT", "LOAD", script.text)
            return self.pipeline(run, *after)

    def _exchange_again(self, packed: bytes, count: int) -> list[Reply]:
        try:
            return self._wire().exchange(packed, count)
        except (OSError, hiredis.ProtocolError) as error:
            self._close()
            raise NoConnection("Redis has closed the connection.") from error

    def _wire(self) -> _Wire:
        wire: _Wire | None = getattr(self._held, "wire", None)
        if wire is None or wire.process != _Wire.this_process:
            wire = self._held.wire = _Wire(_opened(self._client().connection_pool))
        return wire

    def _close(self) -> None:
        self._held.wire.close()
        self._held.wire = None


class Script:
    """Lua that Redis runs as one step."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class _Wire:
    """The socket of a connection and the parser of what comes from it."""

    this_process: ClassVar[int] = os.getpid()

    def __init__(self, connection: Connection) -> None:
        self.process = self.this_process
        # Also runs once nothing holds this, as when its thread has ended. `__del__` may come after that of the socket,
        # which complains.
        self.close = weakref.finalize(self, connection.disconnect)
        self.close.atexit = False
        # What comes is read here, past the library's own parser.
        self._socket = cast("socket.socket", connection._sock)
        if not isinstance(self._socket, ssl.SSLSocket):  # whose timeout TLS must know of
            # The system watches the timeout. Python would ask before each call whether it may block.
            seconds = self._socket.gettimeout()
            if seconds is not None:
                length = struct.pack("ll", int(seconds), int(seconds % 1 * 1_000_000))  # a `timeval`
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, length)
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, length)
                self._socket.settimeout(None)
        self._reader = hiredis.Reader()

    def exchange(self, packed: bytes, count: int, meanwhile: Callable[[], object] | None = None) -> list[Reply]:
        """Send commands, call `meanwhile` and receive `count` replies.

        OSError, ProtocolError: the connection is of no more use.
        """
        self._socket.sendall(packed)
        if meanwhile is not None:
            meanwhile()
        reader, replies = self._reader, []
        for _ in range(count):
            while (reply := reader.gets()) is False:
                received = self._socket.recv(READ_SIZE)
                if not received:
                    raise ConnectionResetError("Redis has closed the connection.")
                reader.feed(received)
            replies.append(reply)
        return replies


def _note_fork() -> None:
    _Wire.this_process = os.getpid()


os.register_at_fork(after_in_child=_note_fork)


def _opened(pool: Any) -> Connection:
    """Return a new connection with the options of the cache. It speaks RESP 2, in which nothing comes unasked."""
    options = {**pool.connection_kwargs, "protocol": 2}
    options.pop("maint_notifications_config", None)
    options.pop("maint_notifications_pool_handler", None)
    connection: Connection = pool.connection_class(**options)
    connection.connect()  # type: ignore[no-untyped-call]
    return connection


def _named(error: hiredis.ReplyError) -> RedisError:
    """Return the client library's exception for an error that Redis answered."""
    message = str(error)
    return NoScriptError(message) if message.startswith("NOSCRIPT") else ResponseError(message)


# --- The client of caches, sessions and visits, which measures its calls ---


class TimedPipeline(Pipeline):
    def execute(self, raise_on_error: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 - as the base class
        if not engine_time.is_on():
            return list(super().execute(raise_on_error))
        began_at = perf_counter()
        try:
            return list(super().execute(raise_on_error))
        finally:
            engine_time.note(engine_time.REDIS, engine_time.PIPELINE, began_at)


class TimedRedis(Redis):
    def execute_command(self, *args: Any, **options: Any) -> Any:
        if not engine_time.is_on():
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # it has no types
        began_at = perf_counter()
        try:
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # it has no types
        finally:
            engine_time.note(engine_time.REDIS, engine_time.kind_of_command(args[0]), began_at)

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:  # noqa: FBT001, FBT002 - as the base class
        return TimedPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
