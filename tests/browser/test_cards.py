"""Cards on a page of another site, behind a proxy as GitHub's: each size and theme is drawn."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import requests
from playwright.sync_api import Browser

from lookup.page import svg_card
from lookup.page.svg_card import Contents, Line, Look
from lookup.shapes import settings_schema
from tests.browser.people import USER, Site

pytestmark = pytest.mark.live

LOOKS = [Look(theme, size) for theme in svg_card.THEMES for size in svg_card.SIZES]
MAX_BYTES = 5 * 1024 * 1024
# What camo answers (https://github.com/atmos/camo), and github.com's policy passes on.
CAMO = {
    "Content-Security-Policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "deny",
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
}
# An emoji of several parts takes the width of all of them where no font draws it.
TEXTS = (
    "W" * 80,
    "MW" * 80,
    "il " * 90,
    "漢字" * 60,
    "Zoë " * 60,
    "👩" * 60,
    "עברית " * 40,
    "मानक हिन्दी " * 40,
    "e\u0301" * 200,
)

# The width of each line, and of its place.
MEASURED = """[...document.querySelectorAll("svg svg text")].map(
    (text) => [text.getBBox().width, text.parentNode.width.baseVal.value]
)"""


@contextmanager
def proxy(base_url: str, page: str) -> Iterator[str]:
    """Serve `page`, and below /camo/ the pictures of the service as a proxy passes them on; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/camo/"):
                self._send(*fetched(base_url + self.path.removeprefix("/camo")))
            else:
                self._send(200, page.encode(), {"Content-Type": "text/html; charset=utf-8"})

        def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def fetched(url: str) -> tuple[int, bytes, dict[str, str]]:
    """Fetch a picture as camo does: without cookies, only a picture, and of a bounded size."""
    headers = {"Accept": "image/png,image/svg+xml,image/*", "Via": "Camo Asset Proxy", "User-Agent": "camo"}
    answer = requests.get(url, headers=headers, timeout=20)
    kind = answer.headers["Content-Type"]
    assert "Set-Cookie" not in answer.headers
    assert len(answer.content) <= MAX_BYTES
    if not kind.startswith("image/"):
        return 404, b"", CAMO
    return answer.status_code, answer.content, {**CAMO, "Content-Type": kind}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_card_is_drawn_on_another_site(chrome: Browser, site: Site, scheme: str, tmp_path: Path) -> None:
    name = site.account(USER)["username"]
    cards = [f"/camo/{name}/{kind}.svg?{look.query}" for kind in ("card", "presence") for look in LOOKS]
    page = "".join(f'<img src="{card}">' for card in [*cards, "/camo/nobody/card.svg"])
    with proxy(site.base_url, f"<!doctype html><title>Elsewhere</title>{page}") as url:
        context = chrome.new_context(color_scheme="dark" if scheme == "dark" else "light")
        shown, messages = context.new_page(), []
        shown.on("console", lambda message: messages.append(message.text))
        shown.goto(url, wait_until="networkidle")
        measures = "[...document.images].map((image) => [image.naturalWidth, image.naturalHeight])"
        found = shown.evaluate(measures)
        first = shown.locator("img").first.screenshot(path=tmp_path / "auto.png")
        twin = shown.locator("img").nth([look.theme for look in LOOKS].index(scheme)).screenshot()
        context.close()
    sizes = [[look.size.width, look.size.height] for look in LOOKS]
    assert found == [*sizes, *sizes, [0, 0]]
    assert first == twin  # auto is what the reader's system is
    assert [message for message in messages if "404" not in message] == []


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_leaves_its_line(chrome: Browser, text: str) -> None:
    """The estimate of widths holds for the fonts of this machine, so that the ellipsis is seen."""
    plain = settings_schema.filled({})
    for look in LOOKS:
        svg = svg_card.draw(Contents("x", text, Line(text), (Line(text, is_wrapped=True), Line(text)), plain), look)
        ET.fromstring(svg)  # noqa: S314 - ours
        page = chrome.new_page()
        page.set_content(svg.decode())
        for width, room in page.evaluate(MEASURED):
            assert width <= room, (look, width, room)
        page.close()
