"""Django's live server, at a port that is one of the service's hosts. A pytest plugin."""

from __future__ import annotations

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer


@pytest.fixture
def live_server(live_server: LiveServer, settings: Settings) -> LiveServer:
    settings.HOSTS = [*settings.HOSTS, f"{live_server.thread.host}:{live_server.thread.port}"]
    return live_server
