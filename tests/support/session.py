"""The services of one run: PostgreSQL with a migrated template, Redis and an S3 server."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def services() -> Iterator[dict[str, str]]:
    """Start them, and stop them whatever happens; the environment by which test processes know them."""
    if os.environ.get("TESTS_TEMPLATE"):
        yield {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
        return
    raise NotImplementedError
