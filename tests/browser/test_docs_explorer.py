"""Requests that readers send from the documentation, with and without scripts."""

from __future__ import annotations

import json
import re
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from tests.browser import axe
from tests.browser.chromium import NARROW, scrolls_sideways
from tests.browser.people import Site, at_a_browser

pytestmark = pytest.mark.live


def key_of(site: Site, permission: str) -> str:
    return next(str(each["key"]) for each in site.demo["api_keys"] if each["permissions"] == [permission])


def explorer_of(page: Page) -> Locator:
    return page.get_by_role("form", name="Send a request")


def test_a_request_is_sent_from_the_browser_with_the_key_in_a_header_alone(chrome: Browser, site: Site) -> None:
    key, sent = key_of(site, "lookup:user"), list[Request]()

    def note(request: Request) -> None:  # Playwright takes no method of a list
        sent.append(request)

    with at_a_browser(chrome, site) as page:
        page.on("request", note)
        page.goto("/docs/lookup/user")
        form = explorer_of(page)
        form.get_by_label("value").fill("ada & co")
        expect(form.locator("#try-curl")).to_contain_text("value=ada%20%26%20co")
        form.get_by_label("value").fill("ada")
        form.get_by_role("checkbox", name="views").check()
        form.get_by_label("API key").fill(key)
        page.keyboard.press("Enter")
        answer = page.get_by_role("region", name="Answer to your request")
        expect(answer.get_by_role("status").first).to_have_text(re.compile(r"200 OK · \d+ ms"))
        body = json.loads(answer.locator("#try-body").inner_text())
        assert (body["user"]["username"], "views" in body, "badges" in body) == ("ada", True, True)
        expect(answer.get_by_text("Cause:")).to_be_hidden()
        (request,) = [each for each in sent if "/api/" in each.url]
        assert request.headers["x-api-key"] == key
        assert [each.url for each in sent if key in each.url] == []
        assert axe.violations(page) == []
        page.set_viewport_size(NARROW)
        assert not scrolls_sideways(page)
        page.goto("/docs")
        page.go_back()
        expect(explorer_of(page).get_by_label("API key")).to_have_value("")


def test_an_error_is_explained_and_leads_to_its_row_in_the_guide(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/leaderboards/views")
        form = explorer_of(page)
        form.get_by_label("API key").fill("ik_nothing")
        form.get_by_role("button", name="Send request").click()
        answer = page.get_by_role("region", name="Answer to your request")
        expect(answer.get_by_text("404 Not Found")).to_be_visible()
        expect(answer.get_by_text("The key is malformed or unknown.")).to_be_visible()
        answer.get_by_role("link", name="This error in the guide").click()
        row = page.locator("tr:target")
        expect(row).to_contain_text("INVALID_API_KEY")
        expect(row).to_be_in_viewport()


def test_a_key_that_no_header_can_hold_is_answered_with_a_sentence(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/imagehost/folders")
        explorer_of(page).get_by_label("API key").fill("ключ")
        explorer_of(page).get_by_role("button", name="Send request").click()
        expect(page.get_by_text("The request could not be sent.")).to_be_visible()
        expect(explorer_of(page).get_by_role("button", name="Send request")).to_be_enabled()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_without_scripts_the_next_page_asks_for_the_key(
    chrome: Browser, site: Site, theme: Literal["light", "dark"]
) -> None:
    with at_a_browser(chrome, site, scripts=False, is_narrow=True) as page:
        page.emulate_media(color_scheme=theme)
        page.goto("/docs/lookup/presence")
        form = explorer_of(page)
        expect(form.get_by_label("API key")).to_be_hidden()
        form.get_by_label("chat_id").fill(site.demo["users"][0]["chatId"])
        form.get_by_role("button", name="Send request").click()
        page.wait_for_url("**/docs/try/lookup_presence?chat_id=*")
        key = key_of(site, "lookup:presence")
        explorer_of(page).get_by_label("API key").fill(key)
        explorer_of(page).get_by_role("button", name="Send request").click()
        expect(page.get_by_role("status").filter(has_text="200 OK")).to_be_visible()
        assert json.loads(page.locator("#try-body").inner_text())["id"] == site.demo["users"][0]["chatId"]
        assert key not in page.url
        assert key not in page.content()
        assert page.evaluate("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth")


def test_the_page_of_an_answer_is_for_everybody(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/try/lookup_user")
        explorer_of(page).get_by_label("API key").fill("ik_nothing")
        explorer_of(page).get_by_role("button", name="Send request").click()
        expect(page.get_by_text("401 Unauthorized")).to_be_visible()
        assert axe.violations(page) == []
