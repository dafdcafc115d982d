"""The servers that the service needs: the database, Redis, the clocks of both, mail."""

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import get_connection
from django.db import connection

from config.doctor import Finding, failure, measured, ok, warning
from infrastructure.redis_connection import RedisConnection, Script
from presence.store import store

SLOW = 0.005  # seconds of a round trip; a page makes several
FULL = 0.8  # of the server's connections
ASKS = 9  # of which the median counts
OLDEST_REDIS = (6, 0)
DIFFERENT = 2.0  # seconds between two clocks; above it a warning
WRONG = 30.0  # one-time passwords and the feed of presence take no more
SYNCHRONISE = "Keep the clocks of all hosts with chrony or systemd-timesyncd."
NEAR = "Put the server into the same network as this host."

_FACTS = """
SELECT current_setting('server_version'),
       pg_encoding_to_char(encoding),
       pg_is_in_recovery(),
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       has_schema_privilege(current_schema(), 'CREATE'),
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
  FROM pg_database
 WHERE datname = current_database()
"""


def database() -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT sqlite_version()")
            yield ok(f"SQLite {cursor.fetchone()[0]} in {settings.DATABASES['default']['NAME']}")
        return
    with connection.cursor() as cursor:
        cursor.execute(_FACTS)
        version, encoding, is_standby, is_superuser, may_create, used, most = cursor.fetchone()
        took = _median(lambda: cursor.execute("SELECT 1"))
    yield ok(f"PostgreSQL {version.split()[0]}")
    if encoding != "UTF8":
        yield failure(f"its encoding is {encoding}", "Make a database with ENCODING 'UTF8' and copy the data there.")
    if is_standby:
        yield failure("it is a standby, which takes no writes", "Name the primary in DATABASE_URL.")
    if not may_create:
        yield failure("the role may make no tables", "Let the role own the database: ALTER DATABASE … OWNER TO …")
    if is_superuser:
        yield warning("the role is a superuser", "Take a role of its own that owns this database alone.")
    fix = (
        "Raise max_connections, set DATABASE_POOL_SIZE, or put PgBouncer between (docs/installation.md, Connections to "
        "the database)."
    )
    yield measured(used / most, most=FULL, text=f"{used} of {most} connections are in use", fix=fix)
    yield measured(took, most=SLOW, text=f"a round trip takes {took * 1000:.2f} ms", fix=NEAR)


def redis() -> Iterator[Finding]:
    if not settings.REDIS_URL:
        yield ok("not used: limits and caches lie in the process, which is right for one alone")
        return
    wire = RedisConnection()
    version = _info(wire, "server")["redis_version"]
    if tuple(map(int, version.split(".")[:2])) < OLDEST_REDIS:
        yield failure(f"Redis {version} is too old", f"Take {'.'.join(map(str, OLDEST_REDIS))} or newer.")
    else:
        yield ok(f"Redis {version}")
    wire.script(Script("return redis.call('SET', KEYS[1], 'doctor', 'PX', 1000)"), ["doctor"], [])
    policy = store.opened().eviction()
    if policy:
        yield failure(
            f"it may evict members of live presence and counted limits (maxmemory-policy {policy})",
            "Set maxmemory-policy noeviction.",
        )
    memory = _info(wire, "memory")
    used, most = int(memory["used_memory"]), int(memory.get("maxmemory", 0))
    if most:
        text = f"{used // 2**20} of {most // 2**20} MB are in use"
        yield measured(used / most, most=FULL, text=text, fix="Raise maxmemory: a full Redis refuses to count.")
    took = _median(lambda: wire.call("PING"))
    yield measured(took, most=SLOW, text=f"a round trip takes {took * 1000:.2f} ms", fix=NEAR)


def clocks() -> Iterator[Finding]:
    """Compare this host's clock with the servers' clocks."""
    if connection.vendor == "postgresql":
        yield _difference("the database", _database_time)
    if settings.REDIS_URL:
        yield _difference("Redis", _redis_time)
    if settings.EMBEDDED:
        yield ok(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")


def _database_time() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(cursor.fetchone()[0])


def _redis_time() -> float:
    seconds, microseconds = RedisConnection().call("TIME")
    return int(seconds) + int(microseconds) / 1e6


def _difference(server: str, clock: Callable[[], float]) -> Finding:
    clock()  # opens the connection, outside the measured time
    began_at = time.time()
    there = clock()
    difference = there - (began_at + time.time()) / 2
    text = f"{server}'s clock differs by {difference:+.2f} s from this host's"
    if abs(difference) > WRONG:
        return failure(text, SYNCHRONISE)
    return measured(abs(difference), most=DIFFERENT, text=text, fix=SYNCHRONISE)


def mail() -> Iterator[Finding]:
    if settings.EMAIL_BACKEND.endswith("console.EmailBackend"):
        yield ok("printed to the console, as the embedded default does")
        return
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    carrier = get_connection(fail_silently=False)
    try:
        with contextlib.closing(carrier):
            carrier.open()
    except (OSError, SMTPException) as error:
        fix = (
            "Look at EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS (587), EMAIL_USE_SSL (465), EMAIL_HOST_USER and "
            "EMAIL_HOST_PASSWORD."
        )
        yield failure(f"{server} refuses: {type(error).__name__}: {error}", fix)
        return
    yield ok(f"{server} takes emails from {settings.DEFAULT_FROM_EMAIL}; try one with manage.py sendtestemail")
    is_remote = settings.EMAIL_HOST not in {"localhost", "127.0.0.1", "::1"}
    if is_remote and not (settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL):
        yield warning(
            "emails go there in clear", "Set EMAIL_USE_TLS=1 with port 587, or EMAIL_USE_SSL=1 with port 465."
        )
    if not settings.OPERATOR_EMAILS:
        yield warning("only the superusers get emails about failing jobs", "Set OPERATOR_EMAILS.")


def _info(wire: RedisConnection, section: str) -> dict[str, str]:
    lines = wire.call("INFO", section).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _median(ask: Callable[[], Any]) -> float:
    """Return the seconds that it takes."""
    taken = []
    for _ in range(ASKS):
        began_at = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - began_at)
    return statistics.median(taken)
