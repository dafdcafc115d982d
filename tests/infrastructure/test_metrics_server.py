"""/metrics and /healthz of processes that serve no pages."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import requests
from django.core.management.base import CommandError
from pytest_django import Settings

from infrastructure import limits
from infrastructure.metrics import metrics_server
from tests.support import metric_values

TOKEN = "a-token-of-the-scraper"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(autouse=True)
def _on(settings: Settings, tmp_path: Path) -> None:
    settings.METRICS_TOKEN, settings.METRICS_DIR = TOKEN, tmp_path / "metrics"
    metric_values.begin(settings.METRICS_DIR)
    settings.METRICS_HOST, settings.METRICS_PORT = "127.0.0.1", _free_port()


def ask(settings: Settings, path: str, authorization: str = "") -> requests.Response:
    headers = {"Authorization": authorization} if authorization else {}
    return requests.get(f"http://127.0.0.1:{settings.METRICS_PORT}{path}", headers=headers, timeout=10)


def test_it_returns_the_counts_to_a_caller_with_the_token(settings: Settings) -> None:
    with metrics_server.running():
        limits.REFUSED.labels("api").inc()
        answer = ask(settings, "/metrics", f"Bearer {TOKEN}")
    assert (answer.status_code, answer.headers["Content-Type"].split(";")[0]) == (200, "text/plain")
    assert 'hearth_refusals_total{limit="api"} 1.0' in answer.text
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("authorization", ["", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN])
def test_other_callers_get_401(settings: Settings, authorization: str) -> None:
    with metrics_server.running():
        answer = ask(settings, "/metrics", authorization)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "hearth_" not in answer.text


def test_without_a_token_there_is_nothing(settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    with metrics_server.running():
        answers = [ask(settings, "/metrics", "Bearer "), ask(settings, "/"), ask(settings, "/healthz")]
    assert [answer.status_code for answer in answers] == [404, 404, 200]


def test_counts_that_cannot_be_read_are_503(settings: Settings, tmp_path: Path) -> None:
    settings.METRICS_DIR = tmp_path / "file"
    settings.METRICS_DIR.write_text("no folder")
    with metrics_server.running():
        assert ask(settings, "/metrics", f"Bearer {TOKEN}").status_code == 503


def test_it_serves_only_meanwhile_and_only_with_a_port(settings: Settings) -> None:
    with metrics_server.running():
        assert ask(settings, "/healthz").json() == {"status": "ok"}
    with pytest.raises(requests.ConnectionError):
        ask(settings, "/healthz")
    port, settings.METRICS_PORT = settings.METRICS_PORT, 0
    with metrics_server.running():
        settings.METRICS_PORT = port
        with pytest.raises(requests.ConnectionError):
            ask(settings, "/healthz")


def test_a_port_that_is_taken_is_an_error_at_the_start(settings: Settings) -> None:
    message = f"METRICS_HOST and METRICS_PORT: 127.0.0.1:{settings.METRICS_PORT}: Address already in use"
    with metrics_server.running(), pytest.raises(CommandError, match=message), metrics_server.running():
        pass
