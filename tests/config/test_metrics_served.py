"""`/metrics` of two worker processes under the real server: they add up, also after one of them was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from oidc_provider.token import signing
from tests.journeys.processes import Server
from tests.presence import served

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOKEN = "a-token-of-the-scraper"
TWO_WORKERS = ("--workers", "2", "--respawn-failed-workers", *served.INTERFACES["wsgi"])
REQUESTS = 40


def scraped(server: Server, name: str, **labels: str) -> float:
    """The sum of the series of this name that have these labels."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Connection": "close"}
    text = requests.get(f"{server.base_url}/metrics", headers=headers, timeout=10).text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return sum(found.value for found in samples if found.name == name and labels.items() <= found.labels.items())


def wait_for(server: Server, number: float, name: str, **labels: str) -> None:
    give_up_at = time.monotonic() + 30
    while (found := scraped(server, name, **labels)) != number:
        assert found < number, f"{name} is {found}, and should be {number}"
        assert time.monotonic() < give_up_at, f"{name} stays at {found}"
        time.sleep(0.2)


def workers(directory: Path) -> list[int]:
    """Those that have counted something, by process id."""
    return [int(path.stem.partition("_")[2]) for path in (directory / "metrics").glob("*/histogram_*.db")]


def ask(server: Server) -> None:
    """REQUESTS times; connections that a killed worker has accepted break, and count nothing."""
    answered = 0
    while answered < REQUESTS:
        with contextlib.suppress(requests.ConnectionError):
            requests.get(f"{server.base_url}/healthz", headers={"Connection": "close"}, timeout=10)
            answered += 1


def test_what_two_workers_have_counted_adds_up_and_outlives_them(tmp_path: Path) -> None:
    signing.ensure_signing_key()
    counted = {"name": "hearth_http_request_seconds_count", "route": "/healthz", "status": "200"}
    with served.service(tmp_path, TWO_WORKERS, METRICS_TOKEN=TOKEN) as server:
        ask(server)
        wait_for(server, REQUESTS, **counted)
        while len(workers(tmp_path)) < 2:  # the system decides which of them takes a connection
            requests.get(f"{server.base_url}/readyz", headers={"Connection": "close"}, timeout=10)
        os.kill(workers(tmp_path)[0], signal.SIGKILL)
        ask(server)
        wait_for(server, 2 * REQUESTS, **counted)
