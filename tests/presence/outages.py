"""A presence store whose server goes away and comes back empty: a Redis of its own, or the table of the database."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django_redis.cache import RedisCache

from config import caches as options
from presence.store import PresenceStore
from tests.support import programs

TABLE = "presence_storeentry"


class RedisOutage:
    """A Redis that keeps nothing when it is killed."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.come_back()
        url = f"redis://127.0.0.1:{self._port}/0"
        config: dict[str, Any] = options.options(url)["presence"]  # Any: Django's settings of a cache
        self.store = PresenceStore(
            RedisCache(url, {name: value for name, value in config.items() if name != "BACKEND"})
        )

    def go_away(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def come_back(self) -> None:
        command: list[str | Path] = [
            programs.found()["redis-server"],
            "--port",
            str(self._port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        give_up_at = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port)).close()
            except ConnectionRefusedError:
                assert time.monotonic() < give_up_at
                time.sleep(0.01)
            else:
                return


class TableOutage:
    """The table has another name for a while, and no rows after that."""

    def __init__(self) -> None:
        self.store = PresenceStore(caches["presence"])
        self._is_away = False

    def go_away(self) -> None:
        if not self._is_away:
            self._is_away = True
            with connection.cursor() as cursor:
                cursor.execute(f"ALTER TABLE {TABLE} RENAME TO {TABLE}_away")

    def come_back(self) -> None:
        if self._is_away:
            self._is_away = False
            with connection.cursor() as cursor:
                cursor.execute(f"ALTER TABLE {TABLE}_away RENAME TO {TABLE}")
                cursor.execute(f"DELETE FROM {TABLE}")  # noqa: S608 - the name is a constant


@contextmanager
def fragile() -> Iterator[RedisOutage | TableOutage]:
    """Of the kind that the settings name. In its place again at the end."""
    with ExitStack() as stack:
        outage = RedisOutage() if settings.REDIS_URL else TableOutage()
        stack.callback(outage.go_away if isinstance(outage, RedisOutage) else outage.come_back)
        yield outage
