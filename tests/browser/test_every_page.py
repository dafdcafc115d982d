"""Accessibility of every linked page, in both themes and at 320 px."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import axe, people
from tests.browser.chromium import NARROW, WIDE, scrolls_sideways
from tests.browser.crawl import Crawl
from tests.browser.people import OPERATOR, STRANGER, USER, Site, at_a_browser

pytestmark = pytest.mark.live

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


# What each of them sees and the one before does not.
@pytest.mark.parametrize(
    ("who", "walk"), [(STRANGER, {"whole": "docs"}), (USER, {}), (OPERATOR, {"only": "dashboard/staff/"})]
)
def test_every_page_is_for_everybody(chrome: Browser, site: Site, who: str, walk: dict[str, str]) -> None:
    problems: dict[str, list[str]] = {}
    with at_a_browser(chrome, site) as page:
        if who != STRANGER:
            people.sign_in(page, site.account(who))
        for path in Crawl(page, site.base_url, **walk):
            if found := problems_of(page):
                problems[path] = found
    assert problems == {}


def problems_of(page: Page) -> list[str]:
    """Return the errors of the open page at both widths and in both themes."""
    page.set_viewport_size(WIDE)
    found = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        found += [f"{theme}: {line}" for line in axe.violations(page)]
    page.set_viewport_size(NARROW)
    if scrolls_sideways(page):
        found.append("wider than 320 px")
    return found
