"""PostgreSQL and Redis of a run, and the environment in which the service runs on them as in production."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from tests.support import environment, servers
from tests.support.servers import Servers

# A durable server of a machine with some GB of memory: fsync, synchronous_commit and full_page_writes stay on.
POSTGRES = (
    "shared_buffers=1GB",
    "effective_cache_size=4GB",
    "maintenance_work_mem=256MB",
    "work_mem=16MB",
    "max_wal_size=4GB",
    "checkpoint_timeout=15min",
    "random_page_cost=1.1",  # solid-state disks
    "jit=off",
    "max_connections=100",
)
STATEMENTS = ("shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_planning=on")
ADDRESS_HEADER = "X-Client-Address"
BASE_URL = "https://id.example.org"


@contextlib.contextmanager
def running(directory: Path, *, with_statements: bool = False) -> Iterator[Servers]:
    """Start both on ports of their own. `with_statements`: PostgreSQL counts what each statement takes."""
    with servers.running(directory, (*POSTGRES, *(STATEMENTS if with_statements else ()))) as found:
        yield found


def outer() -> dict[str, str]:
    """The environment of this process without any setting of the service."""
    names = {*environment.NAMES, "DATABASE_URL", "REDIS_URL", "VAR_DIR"}
    return {name: value for name, value in os.environ.items() if name not in names}


def production(directory: Path, engines: Servers) -> dict[str, str]:
    """The settings of a production start on these engines, limits on. Without the request log: no peer writes one."""
    var = directory / "var"
    (var / "static").mkdir(parents=True, exist_ok=True)
    return {
        **outer(),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": engines.database_url,
        "REDIS_URL": engines.redis_url,
        "VAR_DIR": str(var),
        "DEMO": "1",
        "ALLOW_UNSAFE_START": "demo,limits",
        "BASE_URL": BASE_URL,
        "EDGE_CLIENT_ADDRESS_HEADER": ADDRESS_HEADER,
        "ACCESS_LOG": "0",
        "SECRET_KEY": "a-secret-key-of-the-measurements-alone-" * 2,
        "SIGNING_KEY_ENCRYPTION_KEYS": "an-encryption-key-of-the-measurements-alone",
    }
