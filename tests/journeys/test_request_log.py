"""The request log holds requests from just before the service stops."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
import requests

from tests.journeys import services

pytestmark = pytest.mark.live


def test_a_server_that_is_stopped_writes_what_it_has_noted(tmp_path: Path) -> None:
    with services.embedded_server(tmp_path) as server:
        client_id = json.loads((tmp_path / "var" / "demo.json").read_text())["app"]["client_id"]
        answer = requests.get(f"{server.base_url}/api/auth/oauth2/authorize", {"client_id": client_id}, timeout=15)
    with contextlib.closing(sqlite3.connect(tmp_path / "var" / "db.sqlite3")) as database:
        rows = database.execute("SELECT request_id, outcome FROM oidc_provider_requestrecord").fetchall()
    assert rows == [(answer.headers["X-Request-Id"], "invalid_redirect")]
