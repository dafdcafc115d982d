"""The server of `make run` without limits, and a Chromium."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import chromium, people
from tests.browser.people import Site
from tests.journeys import services


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with services.embedded_server(directory, RATE_LIMITS_ENABLED="0") as server:
        # Any: the file's JSON, as demo/seeding.py writes it
        demo: dict[str, Any] = json.loads((directory / "var" / "demo.json").read_text())
        yield Site(server, demo)
    services.forget(directory)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """For a module only: Playwright's event loop runs all the while, and other tests need their own."""
    expect.set_options(timeout=people.PATIENCE)
    with chromium.running() as browser:
        yield browser


@pytest.fixture(autouse=True)
def _nothing_breaks(site: Site) -> Iterator[None]:
    """Fail a test during which the service logs an error, and show its log."""
    before = site.server.log.stat().st_size
    yield
    written = site.server.log.read_bytes()[before:].decode(errors="replace")
    sys.stdout.write(written)
    assert "Traceback" not in written
    assert '"level": "ERROR"' not in written
