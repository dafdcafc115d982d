"""What a server notes of requests reaches the database within seconds, and when the server ends."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.journeys import services
from tests.journeys.browser import TIMEOUT

pytestmark = pytest.mark.live

MAX_AGE = 10  # seconds from a call to its note
USES = "SELECT coalesce(sum(count), 0) FROM accounts_keyday"


def rows(directory: Path, query: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(directory / "var" / "db.sqlite3")) as database:
        return database.execute(query).fetchall()


def test_uses_of_keys_and_requests_are_noted_within_seconds_and_at_the_end_of_the_server(tmp_path: Path) -> None:
    with services.embedded_server(tmp_path) as server:
        demo = json.loads((tmp_path / "var" / "demo.json").read_text())
        key = next(key["key"] for key in demo["api_keys"] if "lookup:user" in key["permissions"])

        def use_of_a_key() -> None:
            url = f"{server.base_url}/api/lookup/user?type=uid&value={demo['users'][0]['uid']}"
            assert requests.get(url, headers={"X-API-Key": key}, timeout=TIMEOUT).status_code == 200

        ((before,),) = rows(tmp_path, USES)
        use_of_a_key()
        called_at = time.monotonic()
        while rows(tmp_path, USES) == [(before,)]:
            assert time.monotonic() - called_at < MAX_AGE
            time.sleep(0.1)
        use_of_a_key()
        asked = {"client_id": demo["app"]["client_id"]}
        answer = requests.get(f"{server.base_url}/api/auth/oauth2/authorize", asked, timeout=TIMEOUT)
    assert rows(tmp_path, USES) == [(before + 2,)]
    logged = rows(tmp_path, "SELECT request_id, outcome FROM oidc_provider_requestrecord")
    assert logged == [(answer.headers["X-Request-Id"], "invalid_redirect")]
    services.forget(tmp_path)
