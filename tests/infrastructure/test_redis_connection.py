"""The connection to Redis that each thread holds: replies fit their commands, and an ended connection is replaced."""

from __future__ import annotations

import gc
import socket
import threading
import time
import warnings
from typing import Any

import pytest
from django.test import override_settings
from django_redis import get_redis_connection
from redis.connection import Connection
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infrastructure.redis_connection import RedisConnection, Script, _Wire
from tests.support.redis_commands import UNREACHABLE
from tests.support.threads import together

ECHO = Script("return {KEYS[1], ARGV[1], 7}")


@pytest.fixture
def redis() -> RedisConnection:
    return RedisConnection()


def own_id(redis: RedisConnection) -> int:
    return int(redis.call("CLIENT", "ID"))


def test_replies_come_in_the_order_of_the_commands(redis: RedisConnection) -> None:
    assert redis.call("SET", "a", "Zoë") == b"OK"
    assert redis.pipeline(("GET", "a"), ("INCR", "n"), ("GET", "none")) == ["Zoë".encode(), 1, None]


def test_a_script_that_redis_does_not_know_is_loaded(redis: RedisConnection) -> None:
    redis.call("SCRIPT", "FLUSH")
    for _ in range(2):
        assert redis.script(ECHO, ["k"], ["v"]) == [[b"k", b"v", 7]]


def test_it_uses_the_database_of_the_cache(redis: RedisConnection) -> None:
    redis.call("SET", "here", 1)
    assert get_redis_connection("default").get("here") == b"1"


def test_an_ended_connection_is_replaced_once(redis: RedisConnection) -> None:
    before = own_id(redis)
    get_redis_connection("default").client_kill_filter(_id=before)
    assert own_id(redis) > before


def test_a_connection_that_only_refers_to_itself_is_closed_before_its_socket_complains() -> None:
    connected, other = socket.socketpair()  # older than what refers to it, so garbage sooner
    other.settimeout(5)
    connection: Any = Connection()  # type: ignore[no-untyped-call]
    connection._sock = connected
    wire: Any = _Wire(connection)
    wire.itself = wire
    del wire, connection, connected
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        gc.collect()
    assert not complaints
    with other:
        assert other.recv(1) == b""


def test_an_error_is_raised_and_the_next_reply_fits(redis: RedisConnection) -> None:
    redis.call("SET", "text", "x")
    with pytest.raises(ResponseError, match="not an integer"):
        redis.pipeline(("INCR", "text"), ("GET", "text"))
    assert redis.call("GET", "text") == b"x"


def test_a_reply_that_was_not_waited_for_never_answers_another_command(
    redis: RedisConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis.call("PING")
    wire = redis._held.wire
    with monkeypatch.context() as patch:
        patch.setattr(wire, "_reader", None)  # breaks off after the command was sent
        with pytest.raises(AttributeError):
            redis.call("ECHO", "late")
    assert redis.call("ECHO", "next") == b"next"


def test_a_redis_that_hangs_is_an_error_in_time(redis: RedisConnection) -> None:
    redis.call("PING")
    with pytest.raises(RedisTimeoutError):
        redis.call("BLPOP", "a list that stays empty", 5)
    assert redis.call("PING") == b"PONG"


def test_after_a_failover_the_server_is_looked_up_again(redis: RedisConnection) -> None:
    before = own_id(redis)
    with pytest.raises(ResponseError, match="READONLY"):
        redis.script(Script("return redis.error_reply('READONLY a replica')"), ["k"], [])
    assert own_id(redis) > before


def test_nothing_listens() -> None:
    with override_settings(CACHES=UNREACHABLE), pytest.raises(RedisError):
        RedisConnection().call("PING")


def test_it_ends_with_its_thread(redis: RedisConnection) -> None:
    [identifier] = together(1, lambda _: own_id(redis))
    give_up_at = time.monotonic() + 10
    while identifier in {int(client["id"]) for client in get_redis_connection("default").client_list()}:
        assert time.monotonic() < give_up_at  # Redis notices the closed socket in its own time
        time.sleep(0.01)


def test_each_thread_has_its_own(redis: RedisConnection) -> None:
    everyone_is_here = threading.Barrier(4)

    def identify(_: int) -> int:
        identifier = own_id(redis)
        everyone_is_here.wait(5)
        return identifier if own_id(redis) == identifier else 0

    identifiers = together(4, identify)
    assert len(set(identifiers)) == 4
    assert 0 not in identifiers
