"""Leaderboard, search and a first profile as visitors see them, and the owner's visitors, with and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import axe, people
from tests.browser.chromium import NARROW, WIDE, scrolls_sideways
from tests.browser.people import USER, Site, at_a_browser

pytestmark = pytest.mark.live
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])


@SCRIPTS
def test_a_visitor_finds_someone_on_the_board_and_by_name(chrome: Browser, site: Site, scripts: bool) -> None:
    name = site.account(USER)["username"]
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        page.goto("/")
        page.get_by_role("contentinfo").get_by_role("link", name="Leaderboard").click()
        expect(page.get_by_role("heading", name="Most viewed")).to_be_visible()
        page.get_by_role("link", name="First members").click()
        expect(page.get_by_text("Member 0")).to_be_visible()
        page.get_by_role("link", name="Next").click()
        expect(page.get_by_text("Page 2 of ")).to_be_visible()
        page.get_by_label("Find someone by name").fill(f"@{name[:2].upper()}")
        page.keyboard.press("Enter")
        page.get_by_role("main").locator(f".person__link[href='/{name}']").click()
        page.wait_for_url(f"**/{name}")
        page.goto("/search?q=a")
        expect(page.get_by_role("alert")).to_have_text("Type 2 to 32 characters of the name.")


@SCRIPTS
def test_the_owner_of_a_first_profile_sees_who_came(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as owner, at_a_browser(chrome, site, scripts=scripts) as visitor:
        person = people.sign_up(owner, site)
        owner.goto("/dashboard/profile/visitors/")
        expect(owner.get_by_text("No visitors in this period")).to_be_visible()
        assert problems_of(owner, scripts=scripts) == []
        visitor.set_extra_http_headers({"User-Agent": "Mozilla/5.0 Firefox/128.0"})
        visitor.goto(f"/{person.username}", referer="https://news.example/a?b")
        assert problems_of(visitor, scripts=scripts) == []
        main = visitor.get_by_role("main")
        expect(main.get_by_role("heading")).to_have_count(1)
        expect(main.get_by_role("link", name="Sign in to vote or comment")).to_be_visible()
        owner.reload()
        expect(owner.get_by_role("heading", name="1 view", exact=True)).to_be_visible()
        expect(owner.get_by_role("row", name="news.example 1")).to_be_visible()
        owner.get_by_text("Day by day").click()
        expect(owner.get_by_role("region", name="Table of days").get_by_role("row")).to_have_count(31)
        assert problems_of(owner, scripts=scripts) == []
        with owner.expect_download() as download:
            owner.get_by_role("link", name="Download as CSV").click()
        assert "view,news.example,1" in download.value.path().read_text()


def problems_of(page: Page, *, scripts: bool) -> list[str]:
    """Errors of the open page at both widths and in both themes. axe runs where scripts do."""
    found = []
    for width in (WIDE, NARROW):
        page.set_viewport_size(width)
        found += ["wider than the window"] if scrolls_sideways(page) else []
        for theme in ("light", "dark") if scripts else ():
            page.emulate_media(color_scheme=theme)
            found += [f"{theme} {width['width']}: {line}" for line in axe.violations(page)]
    page.set_viewport_size(WIDE)
    return found
