"""A sign-up with a wrong address in Chromium: the address is changed on the page that asks for the code."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import scrolls_sideways
from tests.browser.people import Site, at_a_browser
from tests.browser.test_every_page import problems_of
from tests.journeys import people, post_office
from tests.journeys.post_office import LogPostOffice

pytestmark = pytest.mark.live


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_wrong_address_is_changed_and_the_new_one_confirmed(chrome: Browser, site: Site, scripts: bool) -> None:
    person = people.stranger()
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        page.goto("/accounts/signup/")
        page.locator("input[name=email]").fill(f"wrong-{person.email}")
        page.locator("input[name=username]").fill(person.username)
        page.locator("input[name=password1]").fill(person.password)
        page.get_by_role("button", name="Sign up", exact=True).click()
        assert not scripts or problems_of(page) == []
        page.get_by_role("link", name="Change it").click()
        assert not scrolls_sideways(page)
        assert not scripts or problems_of(page) == []
        page.get_by_label("New email address").fill(person.email)
        page.get_by_role("button", name="Send a new code").click()
        expect(page.get_by_text(f"We have sent a code to {person.email}")).to_be_visible()
        page.locator("input[name=code]").fill(post_office.code_for(LogPostOffice(site.server.log), person.email))
        page.get_by_role("button", name="Confirm", exact=True).click()
        page.wait_for_url("**/dashboard/**")
