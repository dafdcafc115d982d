"""Pages of the admin: errors of accessibility in both themes, at 1280 and at 320 px."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import people
from tests.browser.people import OPERATOR, Site, at_a_browser
from tests.browser.test_every_page import problems_of

pytestmark = pytest.mark.live

PAGES = (
    "/admin/",
    "/admin/accounts/",
    "/admin/accounts/user/",
    "/admin/accounts/user/add/",
    "/admin/accounts/apikey/add/",
    "/admin/accounts/auditevent/export/",
    "/admin/imagehost/file/",
    "/admin/imagehost/folder/add/",
    "/admin/presence/lastonline/live/",
)
LISTS = ("/admin/accounts/user/", "/admin/lookup/badge/")  # the form of the first row of each


def test_pages_of_the_admin_have_no_accessibility_errors(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(OPERATOR))
        paths = [*PAGES, *(_first_row(page, path) for path in LISTS)]
        problems = {path: found for path in paths if (found := _opened(page, path))}
    assert problems == {}


def _first_row(page: Page, path: str) -> str:
    page.goto(path)
    href = page.locator("#result_list tbody th a").first.get_attribute("href")
    assert href is not None
    return href


def _opened(page: Page, path: str) -> list[str]:
    answer = page.goto(path)
    assert answer is not None, path
    assert answer.status == 200, path
    return problems_of(page)
