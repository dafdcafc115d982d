"""Pages on paper: light, without navigation and controls, with the addresses of links."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.people import Site, at_a_browser

pytestmark = pytest.mark.live

# What is left of a page that the printer would show: its visible controls and navigation.
CONTROLS = "nav:visible, form:visible, button:visible, .button:visible, .skip-link:visible, footer:visible"


@pytest.mark.parametrize("path", ["/docs/lookup/user", "/ada"])
def test_a_printed_page_is_light_and_holds_its_text_alone(chrome: Browser, site: Site, path: str) -> None:
    scheme = "(element) => getComputedStyle(element).colorScheme"
    with at_a_browser(chrome, site) as page:
        page.emulate_media(media="print", color_scheme="dark")
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.locator(CONTROLS).all_inner_texts() == []
        expect(page.locator("body")).to_have_css("background-image", "none")
        assert set(page.locator("html").evaluate(scheme).split()) == {"only", "light"}


def test_a_printed_link_says_where_it_leads(chrome: Browser, site: Site) -> None:
    written = "(element) => getComputedStyle(element, '::after').content"
    with at_a_browser(chrome, site) as page:
        page.emulate_media(media="print")
        page.goto("/ada")
        link = page.locator("a.link-card").first
        assert f'"{link.get_attribute("title")}"' in link.evaluate(written)
        page.goto("/docs/sign-in")
        onward = page.locator('.prose p > a[href^="/docs/"]').first
        assert f"({onward.get_attribute('href')})" in onward.evaluate(written)
