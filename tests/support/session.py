"""What one run needs, started once and shared by its workers: a directory, databases, Redis, an S3 server."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.support import databases, keeper, object_store, servers


@dataclass(frozen=True)
class Session:
    """`production` and `embedded`: the environment of test processes on PostgreSQL and Redis, and on SQLite."""

    production: dict[str, str]
    embedded: dict[str, str]


@contextlib.contextmanager
def running(*, with_s3: bool = False) -> Iterator[Session]:
    """Start all of it, and leave no process and no file behind, also after a kill."""
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="tests-run-"))
        directory.chmod(0o755)  # PostgreSQL's own user has to pass through
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        stack.enter_context(keeper.watching(directory))
        common = {"TMPDIR": str(_made(directory / "tmp"))}
        pool = stack.enter_context(ThreadPoolExecutor())
        template = pool.submit(databases.migrated_template, _made(directory / "sqlite"))
        store = stack.enter_context(object_store.starting(directory)) if with_s3 else None
        started = stack.enter_context(servers.running(directory))
        production = {**common, "DATABASE_URL": started.database_url, "REDIS_URL": started.redis_url}
        production |= databases.migrated_template(_made(directory / "var"), started.database_url)
        if store is not None:
            common |= store.ready().variables()
        yield Session({**common, **production}, {**common, **template.result()})


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def outer_environment() -> dict[str, str]:
    """The environment of this process without what decides on the engines."""
    return {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
