"""The menu of the documentation, longer than most windows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.people import Site, at_a_browser

pytestmark = pytest.mark.live


def test_the_menu_shows_where_the_reader_is(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        for path in ("/docs", "/docs/imagehost/uploaders"):
            page.goto(path)
            expect(page.locator(".docs-nav [aria-current]")).to_be_in_viewport(ratio=1)
