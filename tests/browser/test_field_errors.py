"""An error that a field is empty goes away when the field is filled; other errors stay until the form is sent."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.people import Site, at_a_browser

pytestmark = pytest.mark.live


def test_a_required_field_loses_its_error_when_it_is_filled(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/accounts/signup/")
        page.locator("main form").first.evaluate("form => { form.noValidate = true }")
        page.locator("input[name=username]").fill("a b")
        page.locator("input[name=password1]").fill("long enough 9")
        page.get_by_role("button", name="Sign up", exact=True).click()
        required = page.get_by_text("This field is required.")
        expect(required).to_have_count(1)

        page.locator("input[name=email]").press_sequentially("ada@example.org")
        expect(required).to_have_count(0)
        expect(page.locator("input[name=email]")).not_to_have_attribute("aria-invalid", "true")
        page.locator("input[name=username]").press_sequentially("c")
        expect(page.locator("input[name=username]")).to_have_attribute("aria-invalid", "true")
