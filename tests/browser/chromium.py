"""Chromium, as Debian packages it, driven by Playwright; and the errors of its pages."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, ViewportSize, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Artwork of the chat platform, for profiles that mirror its picture (docs/decisions/0008-live-presence.md).
ARTWORK = "https://cdn.discordapp.com/"
NARROW: ViewportSize = {"width": 320, "height": 640}
WIDE: ViewportSize = {"width": 1280, "height": 900}
# Reported by the browser itself, so nothing of the page can hide it.
_LISTEN = """
    window.__violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
        window.__violations.push(`${event.effectiveDirective} ${event.blockedURI}`);
    });
"""


@contextlib.contextmanager
def running() -> Iterator[Browser]:
    path = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    assert path, f"None of {', '.join(PROGRAMS)} is installed"
    arguments = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Watch:
    """Collects errors of the pages of a context: violated policies, exceptions, requests to other hosts."""

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        self.problems: list[str] = []
        self._base_url = base_url
        context.add_init_script(_LISTEN)
        context.on("page", self._watch)

    def _watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        page.on("request", self._see)

    def _hear(self, message: ConsoleMessage) -> None:
        """The browser's console has each violation of a policy and each failed request."""
        if message.type == "error" and "Content Security Policy" in message.text:
            self.problems.append(message.text)

    def _see(self, request: Request) -> None:
        if not request.url.startswith((self._base_url, ARTWORK, "data:", "blob:", "about:")):
            self.problems.append(f"{request.frame.url} asks {request.url}")


def scrolls_sideways(page: Page) -> bool:
    """Whether the page is wider than its window."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth > document.documentElement.clientWidth"))
