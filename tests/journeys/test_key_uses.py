"""Uses of API keys reach the database within seconds, and when the server ends."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from pathlib import Path

import pytest
import requests

from tests.journeys import services
from tests.journeys.browser import TIMEOUT
from tests.journeys.processes import Server

pytestmark = pytest.mark.live

MAX_AGE = 10  # seconds from a call to its note


def use_of_a_key(server: Server) -> None:
    entry = json.loads((server.log.parent / "var" / "demo.json").read_text())
    key = next(key["key"] for key in entry["api_keys"] if "lookup:user" in key["permissions"])
    url = f"{server.base_url}/api/lookup/user?type=uid&value={entry['users'][0]['uid']}"
    assert requests.get(url, headers={"X-API-Key": key}, timeout=TIMEOUT).status_code == 200


def calls_noted(directory: Path) -> int:
    with contextlib.closing(sqlite3.connect(directory / "var" / "db.sqlite3")) as database:
        (count,) = database.execute("SELECT coalesce(sum(count), 0) FROM accounts_keyday").fetchone()
        return int(count)


def test_uses_of_keys_are_noted_within_seconds_and_at_the_end_of_the_server(tmp_path: Path) -> None:
    with services.embedded_server(tmp_path) as server:
        before = calls_noted(tmp_path)
        use_of_a_key(server)
        called_at = time.monotonic()
        while calls_noted(tmp_path) == before:
            assert time.monotonic() - called_at < MAX_AGE
            time.sleep(0.1)
        use_of_a_key(server)
    assert calls_noted(tmp_path) == before + 2
    services.forget(tmp_path)
