"""`EventSource` of a browser, in a page of another origin, follows presence with a stream token."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from django.db import connections
from playwright.sync_api import Page

from accounts.api_keys import keys
from accounts.models import ApiKey
from oidc_provider.token import signing
from presence.store.store import PresenceStore
from tests.browser import chromium
from tests.journeys.processes import Server
from tests.presence import lookups, served
from tests.presence.lookups import ADA, BEN, ONLINE, SECRET, Json

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

IDLE: Json = {**ONLINE, "client_status": {"desktop": "idle"}}
SCRIPT = """
([url]) => {
    window.events = [];
    window.stream = new EventSource(url);
    window.opened = 0;
    window.stream.onopen = () => { window.opened += 1; };
    window.stream.onerror = () => window.events.push(["error", window.stream.readyState]);
    for (const name of ["presence", "unavailable", "gone", "closed"]) {
        window.stream.addEventListener(name, (event) => {
            const data = JSON.parse(event.data);
            window.events.push([name, data.id, data.presence?.status.status]);
            window.lastEventId = event.lastEventId;
        });
    }
}
"""


class _PageHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>A page of another origin</title>")

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextlib.contextmanager
def _page_server() -> Iterator[str]:
    """Yield the origin of a server of one page."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _PageHandler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def _url(server: Server) -> str:
    made = requests.post(
        f"{server.base_url}/api/lookup/presence/stream-token", headers={"X-API-Key": SECRET}, timeout=served.PATIENCE
    )
    assert made.status_code == 200, made.text
    return f"{server.base_url}/api/lookup/presence/events?ids={ADA},{BEN}&token={made.json()['token']}"


def _wait_for(page: Page, event: list[Any]) -> None:
    page.wait_for_function("wanted => JSON.stringify(window.events.at(-1)) === JSON.stringify(wanted)", arg=event)


def _aside(act: Callable[[], object]) -> None:
    """Call it in a thread: Playwright's event loop runs in this one, where Django refuses to ask the database."""

    def called() -> None:
        try:
            act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(called).result()


def _end_and_come_back(page: Page, key: ApiKey, store: PresenceStore) -> None:
    """The browser's own way back, after the service has ended the stream: it sends the id of the last event."""
    _aside(lambda: keys.disable(key=key, by=None))
    page.wait_for_function("window.events.some(([name]) => name === 'closed')")  # an error may follow at once
    _aside(lambda: lookups.tell(store, presence=IDLE))
    _aside(lambda: keys.enable(key=key, by=None))
    _wait_for(page, ["presence", str(ADA), "idle"])
    came = page.evaluate("window.events")
    assert [event[0] for event in came] == ["presence", "closed", "error", "presence"]


def test_a_page_of_another_origin_follows_two_members_and_comes_back(tmp_path: Path, store: PresenceStore) -> None:
    signing.ensure_signing_key()
    lookups.key()
    lookups.tell(store)
    store.keep_miss(BEN, "notMember")
    key = ApiKey.objects.get()
    with (
        _page_server() as origin,
        served.service(tmp_path, served.QUICK["wsgi"], RATE_LIMITS_ENABLED="0") as server,
        chromium.running() as chrome,
    ):
        page = chrome.new_page()
        page.goto(origin)
        url = _url(server)
        page.evaluate(SCRIPT, [url])  # the key names no origin yet
        _wait_for(page, ["error", 2])
        _aside(lambda: keys.name_origins(key=key, origins=origin, by=None))
        page.evaluate(SCRIPT, [url])
        _wait_for(page, ["gone", str(BEN), None])
        _aside(lambda: lookups.tell(store, presence=IDLE))
        _wait_for(page, ["presence", str(ADA), "idle"])
        assert page.evaluate("window.events") == [
            *(["presence", str(ADA), "online"], ["gone", str(BEN), None]),
            ["presence", str(ADA), "idle"],
        ]
        seen = page.evaluate("window.lastEventId")
        _aside(lambda: lookups.tell(store))
        _wait_for(page, ["presence", str(ADA), "online"])
        # A new stream of the page, from the state before: only what has changed since comes.
        page.evaluate("window.stream.close()")
        page.evaluate(SCRIPT, [f"{url}&lastEventId={seen}"])
        _wait_for(page, ["presence", str(ADA), "online"])
        assert page.evaluate("window.events") == [["presence", str(ADA), "online"]]
        _end_and_come_back(page, key, store)
        page.evaluate("window.stream.close()")
    assert url.rpartition("=")[2] not in (tmp_path / "log").read_text()
