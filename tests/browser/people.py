"""Users with a Chromium of their own: the demo's accounts, and new ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser.chromium import NARROW, WIDE, Watch
from tests.journeys import people, post_office
from tests.journeys.people import Person
from tests.journeys.post_office import LogPostOffice
from tests.journeys.processes import Server

PATIENCE = 20_000  # milliseconds that a page may take on a busy machine
STRANGER, USER, OPERATOR = "a stranger", "a user", "an operator"


@dataclass(frozen=True)
class Site:
    """The running service. `demo`: the content of demo.json."""

    server: Server
    demo: dict[str, Any]

    @property
    def base_url(self) -> str:
        return self.server.base_url

    def account(self, who: str) -> dict[str, str]:
        """Return the demo's operator for OPERATOR, else its first user."""
        account: dict[str, str] = self.demo["operator"] if who == OPERATOR else self.demo["users"][0]
        return account


@contextlib.contextmanager
def at_a_browser(chrome: Browser, site: Site, *, is_narrow: bool = False, scripts: bool = True) -> Iterator[Page]:
    """Yield a page of a new profile with reduced motion, and fail if a page broke the policy, threw or asked another
    host."""
    context = chrome.new_context(
        base_url=site.base_url,
        reduced_motion="reduce",
        viewport=NARROW if is_narrow else WIDE,
        java_script_enabled=scripts,
        accept_downloads=True,
    )
    context.set_default_timeout(PATIENCE)
    watch = Watch(context, site.base_url)
    try:
        yield context.new_page()
    finally:
        context.close()
    assert watch.problems == [], watch.problems


def sign_in(page: Page, account: dict[str, str]) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Login").or_(page.get_by_label("Username or email")).first.fill(account["username"])
    page.locator("input[name=password]").fill(account["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/dashboard/**")


def sign_up(page: Page, site: Site) -> Person:
    """A new user, whose address is confirmed by the mailed code; the dashboard is open."""
    person = people.stranger()
    page.goto("/accounts/signup/")
    page.locator("input[name=email]").fill(person.email)
    page.locator("input[name=username]").fill(person.username)
    page.locator("input[name=password1]").fill(person.password)
    page.get_by_role("button", name="Sign up", exact=True).click()
    page.locator("input[name=code]").fill(post_office.code_for(LogPostOffice(site.server.log), person.email))
    page.get_by_role("button", name="Confirm", exact=True).click()
    page.wait_for_url("**/dashboard/**")
    return person
