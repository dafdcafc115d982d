"""A file is reported, taken down on the desk, appealed and shown again, in Chromium with and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import people
from tests.browser.axe import problems_of
from tests.browser.people import OPERATOR, USER, Site, at_a_browser
from tests.browser.test_files import HOME, chosen

pytestmark = pytest.mark.live


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_file_is_reported_taken_down_and_appealed(chrome: Browser, site: Site, scripts: bool) -> None:
    with (
        at_a_browser(chrome, site, scripts=scripts) as owner,
        at_a_browser(chrome, site, scripts=scripts) as visitor,
        at_a_browser(chrome, site, scripts=scripts) as staff,
    ):
        public = _uploaded(owner, site)
        people.sign_in(visitor, site.account(USER))
        visitor.goto(public)
        assert problems_of(visitor, scripts=scripts) == []
        visitor.get_by_role("link", name="Report this file").click()
        assert problems_of(visitor, scripts=scripts) == []
        visitor.locator("input[name=reason][value=SPAM]").check()
        visitor.get_by_role("button", name="Send report").click()
        expect(visitor.get_by_text("Report sent. Staff will look at it.")).to_be_visible()
        people.sign_in(staff, site.account(OPERATOR))
        _decide(staff, "/dashboard/staff/reports/", "red.png", "Take down and close", "It sells lamps.")
        answer = visitor.goto(public)
        assert answer is not None
        assert answer.status == 451
        expect(visitor.get_by_text("Reason: Spam or advertising")).to_be_visible()
        assert problems_of(visitor, scripts=scripts) == []
        owner.goto(public)
        owner.get_by_role("link", name="Read the decision").click()
        assert problems_of(owner, scripts=scripts) == []
        owner.get_by_label("Your appeal").fill("I own one lamp.\nIt is not for sale.")
        owner.get_by_role("button", name="Send appeal").click()
        expect(owner.get_by_text("Appeal sent.")).to_be_visible()
        assert problems_of(owner, scripts=scripts) == []
        owner.get_by_role("link", name="red.png").first.click()
        assert problems_of(owner, scripts=scripts) == []
        _decide(staff, "/dashboard/staff/appeals/", "red.png", "Grant the appeal", "You are right.")
        owner.goto(f"{HOME}")
        answer = visitor.goto(public)
        assert answer is not None
        assert answer.status == 200


def _uploaded(page: Page, site: Site) -> str:
    """The page of a file of a new user."""
    people.sign_up(page, site)
    page.goto(HOME)
    page.locator("input[type=file]").set_input_files(chosen("red"))
    if page.get_by_role("button", name="Upload", exact=True).is_visible():
        page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator(".shot__title", has_text="red.png")).to_be_visible()
    page.goto(HOME)
    href = page.locator(".shot__link").first.get_attribute("href")
    assert href is not None
    return href


def _decide(page: Page, queue: str, title: str, action: str, words: str) -> None:
    page.goto(queue)
    page.get_by_role("link", name=title).first.click()
    page.get_by_role("link", name=action).click()
    page.locator("textarea[name=reason]").fill(words)
    page.get_by_role("button", name=action).click()
