"""PostgreSQL with a standby and PgBouncer, Redis with a replica and three sentinels, and an S3 server."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import psycopg
import redis

from tests.production import deployed
from tests.support import object_store, ports, processes, programs, servers
from tests.support.object_store import ObjectStore

DATABASE = ROLE = "identity"
BUCKET = "files"
# A commit survives a server that is killed, though not a machine that loses its power.
POSTGRES_OPTIONS = ["fsync=off", "max_connections=200"]
REDIS_PRIMARY = "identity"  # the name by which the sentinels know the primary
SENTINELS = f"""
sentinel monitor {REDIS_PRIMARY} 127.0.0.1 {{primary}} 2
sentinel down-after-milliseconds {REDIS_PRIMARY} 2000
sentinel failover-timeout {REDIS_PRIMARY} 6000
"""


@dataclass
class Engine:
    """A server that can be killed and started again, on the same port and with the same data. `begin` starts it."""

    begin: Callable[[], subprocess.Popen[bytes]]
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Returns when it answers."""
        self.process = self.begin()

    def kill(self) -> None:
        processes.kill_group(self.process)


@dataclass(frozen=True)
class Engines:
    """`standby_url`: of the standby. `sentinels`: their ports. `by_name`: such as `postgres-primary`, `pgbouncer`."""

    database_url: str
    standby_url: str
    sentinels: tuple[int, ...]
    store: ObjectStore
    by_name: dict[str, Engine]

    def variables(self) -> dict[str, str]:
        """The environment of every program of the service."""
        return {
            "DATABASE_URL": self.database_url,
            "DATABASE_TRANSACTION_POOLING": "1",
            "DATABASE_PREPARED_STATEMENTS": "0",  # PgBouncer before 1.21 cannot carry them
            "REDIS_URL": f"redis://{REDIS_PRIMARY}/0",
            "REDIS_SENTINELS": ",".join(f"127.0.0.1:{port}" for port in self.sentinels),
            "S3_BUCKET": BUCKET,
            "S3_ENDPOINT_URL": self.store.endpoint_url,
            "S3_ACCESS_KEY": self.store.access_key,
            "S3_SECRET_KEY": self.store.secret_key,
        }

    @property
    def web_database_url(self) -> str:
        """Of `id-web` and `id-events`."""
        return f"{self.database_url}_web"

    def redis_primaries(self) -> set[str]:
        """The names of the servers that the sentinels call the primary: one, where they agree."""
        return {f"redis-{_primary_port(sentinel)}" for sentinel in self.sentinels}

    def has_redis_replica(self) -> bool:
        """Whether the primary has a replica with a copy of its data, which follows it."""
        (name,) = self.redis_primaries()
        with redis.Redis(port=int(name.rpartition("-")[2]), socket_timeout=5) as primary:
            replication: dict[str, Any] = primary.info("replication")  # Any: Redis' values
        return bool(replication.get("slave0", {}).get("state") == "online")

    def is_standby_streaming(self) -> bool:
        """Asked as the superuser, since PostgreSQL shows this to no other role."""
        url = servers.Postgres.url(urlsplit(self.standby_url).port or 0)
        with psycopg.connect(url, connect_timeout=5) as connection:
            found = connection.execute("SELECT status = 'streaming' FROM pg_stat_wal_receiver").fetchone()
        return found is not None and bool(found[0])


@contextlib.contextmanager
def running(directory: Path) -> Iterator[Engines]:
    """Start them all. `directory`: readable for the user that PostgreSQL runs as."""
    with contextlib.ExitStack() as stack:
        starting = stack.enter_context(object_store.starting(directory))
        by_name: dict[str, Engine] = {}
        pooler, standby = _postgres(directory, stack, by_name)
        sentinels = _redis(directory, stack, by_name)
        store = starting.ready()
        _make_bucket(store)
        yield Engines(_database_url(pooler), _database_url(standby), sentinels, store, by_name)


def _database_url(port: int) -> str:
    return f"postgres://{ROLE}@127.0.0.1:{port}/{DATABASE}"


def _postgres(directory: Path, stack: contextlib.ExitStack, by_name: dict[str, Engine]) -> tuple[int, int]:
    """The ports of PgBouncer, in front of the primary, and of the standby."""
    primary_port, standby_port, pooler_port = stack.enter_context(ports.held(3))
    postgres = servers.Postgres(directory)

    def start(name: str, port: int) -> None:
        by_name[name] = Engine(partial(postgres.start, directory / name, port, POSTGRES_OPTIONS, stack))

    postgres.make(directory / "postgres-primary")
    start("postgres-primary", primary_port)
    with psycopg.connect(postgres.url(primary_port), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN")
        connection.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}")
    postgres.copy(directory / "postgres-standby", primary_port)
    start("postgres-standby", standby_port)
    by_name["pgbouncer"] = _pgbouncer(directory / "pgbouncer", pooler_port, primary_port, postgres.owner, stack)
    return pooler_port, standby_port


def _pgbouncer(home: Path, port: int, primary_port: int, owner: dict[str, Any], stack: contextlib.ExitStack) -> Engine:
    """As `deploy/pgbouncer.ini` sets it up. `owner`: who runs it, as in `servers.unprivileged`."""
    home.mkdir()
    users, configuration = home / "users.txt", home / "pgbouncer.ini"
    users.write_text(f'"{ROLE}" ""\n')
    replaced = {
        "DATABASE": DATABASE,
        "host=POSTGRESQL port=5432": f"host=127.0.0.1 port={primary_port}",
        "listen_port = 6432": f"listen_port = {port}\nunix_socket_dir =",
        "auth_type = scram-sha-256": "auth_type = trust",
        "/etc/pgbouncer/userlist.txt": str(users),
    }
    configuration.write_text(deployed.read("pgbouncer.ini", replaced))
    command = [programs.found("pgbouncer")["pgbouncer"], configuration]
    return Engine(partial(servers.start, command, home, stack, partial(connect, port), stop=signal.SIGINT, **owner))


def _redis(directory: Path, stack: contextlib.ExitStack, by_name: dict[str, Engine]) -> tuple[int, ...]:
    """The ports of the sentinels."""
    program = programs.found("redis-server")["redis-server"]
    primary, replica, *sentinels = stack.enter_context(ports.held(5))
    for port, of in ((primary, None), (replica, primary)):
        home = directory / f"redis-{port}"
        more = ["--repl-diskless-sync-delay", "0", *(["--replicaof", f"127.0.0.1 {of}"] if of else [])]
        by_name[home.name] = Engine(partial(servers.start_redis, program, home, port, stack, *more))
    for port in sentinels:
        home = directory / f"sentinel-{port}"
        home.mkdir()
        configuration = home / "sentinel.conf"  # a sentinel also writes to it
        own = f"port {port}\nbind 127.0.0.1\ndir {home}\n"
        configuration.write_text(own + SENTINELS.format(primary=primary))
        command: list[str | Path] = [program, configuration, "--sentinel"]
        ask = partial(connect, port)
        by_name[home.name] = Engine(partial(servers.start, command, home, stack, ask, stop=signal.SIGTERM))
    return tuple(sentinels)


def _primary_port(sentinel: int) -> int:
    with redis.Redis(port=sentinel, socket_timeout=5) as client:
        _, port = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", REDIS_PRIMARY)
    return int(port)


def connect(port: int) -> None:
    """OSError: no server listens on the port."""
    socket.create_connection(("127.0.0.1", port), timeout=5).close()


def _make_bucket(store: ObjectStore) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=store.endpoint_url,
        region_name="us-east-1",
        aws_access_key_id=store.access_key,
        aws_secret_access_key=store.secret_key,
    )
    client.create_bucket(Bucket=BUCKET)
