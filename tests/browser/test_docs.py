"""The documentation in Chromium: its menu, its pages, and the form that sends a request."""

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


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_the_stacks_are_chosen_by_keyboard(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        page.goto("/docs/sign-in")
        stacks = page.get_by_role("group", name="Your stack").get_by_role("radio")
        shown = page.locator(".tabbed__panel:visible")
        stacks.first.focus()
        for number in range(3):
            expect(stacks.nth(number)).to_be_checked()
            expect(shown).to_have_count(1)
            label = page.locator(".tabbed__label").nth(number).inner_text()
            expect(shown.get_by_role("heading", name=label, exact=True)).to_be_visible()
            page.keyboard.press("ArrowRight")


def test_a_link_to_a_stack_opens_it(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/sign-in#authlib-flask")
        expect(page.get_by_role("radio", name="Authlib (Flask)")).to_be_checked()
        expect(page.locator(".tabbed__panel:visible")).to_have_count(1)


def test_the_language_of_samples_is_remembered(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/lookup/user")
        choices = page.get_by_role("group", name="Language of the sample")
        expect(shown_languages(page)).to_have_count(choices.count())
        choices.last.get_by_role("button", name="Python").press("Enter")
        for path in ("/docs/lookup/user", "/docs/lookup/presence"):
            page.goto(path)
            languages = {each.get_attribute("data-language") for each in shown_languages(page).all()}
            assert languages == {"python"}
            expect(choices.first.get_by_role("button", name="Python")).to_have_attribute("aria-pressed", "true")


def test_without_scripts_every_language_is_shown(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site, scripts=False) as page:
        page.goto("/docs/lookup/presence")
        assert {each.get_attribute("data-language") for each in shown_languages(page).all()} == {"sh", "python", "js"}
        expect(page.get_by_role("group", name="Language of the sample")).to_have_count(0)


def shown_languages(page: Page) -> Locator:
    return page.locator(".samples .snippet:visible")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_search_leads_to_the_section(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        page.goto("/docs")
        page.get_by_role("searchbox", name="Search the documentation").fill("rotation of keys")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").filter(has_text="rotation of keys")).to_be_visible()
        page.get_by_role("searchbox", name="Search terms").fill("chat picture")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").filter(has_text="chat picture")).to_be_visible()
        first = page.locator(".docs-result a").first
        target = first.get_attribute("href")
        first.click()
        page.wait_for_url(f"**{target}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_a_search_without_results_says_so(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/search?q=zzzz")
        expect(page.get_by_text("No page matches “zzzz”.")).to_be_visible()
        expect(page.get_by_role("searchbox", name="Search terms")).to_have_value("zzzz")


def test_the_html_of_a_sign_in_button_is_copied_and_its_picture_downloaded(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto("/docs/sign-in/buttons")
        page.get_by_text("Dark", exact=True).first.click()
        picture = page.locator('img[src$="/dark-40.svg"]')
        assert picture.evaluate("image => image.complete && image.naturalWidth === image.width && image.width > 100")
        page.get_by_role("button", name="Copy dark-40.svg · HTML").click()
        copied = str(page.evaluate("navigator.clipboard.readText()"))
        assert copied.startswith('<a href="/login"><img src="http')
        with page.expect_download() as download:
            page.get_by_role("link", name="Download dark-40.svg").click()
        assert download.value.suggested_filename == "dark-40.svg"


def test_the_styled_button_shows_focus_and_disabled_and_keeps_a_border_in_forced_colors(
    chrome: Browser, site: Site
) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/sign-in/buttons")
        buttons = page.get_by_role("button", name="Sign in with Hearth")
        page.get_by_role("link", name="mark.svg", exact=True).focus()
        page.keyboard.press("Tab")
        expect(buttons.first).to_be_focused()
        assert buttons.first.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
        expect(buttons.nth(3)).to_be_disabled()
        page.emulate_media(forced_colors="active")
        assert buttons.first.evaluate("button => parseFloat(getComputedStyle(button).borderTopWidth)") == 1


def test_the_menu_shows_where_the_reader_is(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        for path in ("/docs", "/docs/imagehost/uploaders", "/docs/reference/lookup-user"):
            page.goto(path)
            expect(page.locator(".docs-nav [aria-current]")).to_be_in_viewport(ratio=1)
            expect(page.get_by_role("searchbox", name="Search the documentation")).to_be_in_viewport(ratio=1)


def test_the_search_stays_above_the_menu_that_scrolls(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site, scripts=False) as page:
        page.goto("/docs/reference/lookup-user")
        page.locator(".docs-nav a").last.focus()
        expect(page.locator(".docs-nav a").last).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("searchbox", name="Search the documentation")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", ["/docs/reference/lookup-user", "/docs/lookup/user", "/docs/errors/keys"])
def test_a_narrow_page_shows_whole_tables_whose_cells_have_the_names_of_their_columns(
    chrome: Browser, site: Site, path: str
) -> None:
    with at_a_browser(chrome, site, is_narrow=True) as page:
        page.goto(path)
        tables = page.locator(".table-wrap:has(.table--stacked)")
        assert tables.count() > 0
        assert [each.evaluate("e => e.scrollWidth - e.clientWidth") for each in tables.all()] == [0] * tables.count()
        name = "(element) => getComputedStyle(element, '::before').content"
        cells = tables.first.get_by_role("row").nth(1).get_by_role("cell")
        names = tables.first.get_by_role("columnheader").all_text_contents()
        shown = [str(cells.nth(at).evaluate(name)) for at in (1, 2)]
        assert [text.split('"')[1] for text in shown] == names[1:3]


MOST_PIXELS = 6_000  # of a page in a window of 1280 by 900


def test_no_page_is_long(chrome: Browser, site: Site) -> None:
    heights = {}
    with at_a_browser(chrome, site) as page:
        index = page.request.get("/llms.txt").text()
        for path in re.findall(rf"\({re.escape(site.base_url)}(/docs[^)]*)\.md\)", index):
            page.goto(path)
            heights[path] = int(page.evaluate("document.documentElement.scrollHeight"))
    assert len(heights) > 80
    assert {path: height for path, height in heights.items() if height > MOST_PIXELS} == {}


def test_an_old_address_of_an_error_leads_to_a_link_to_its_new_place(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/errors#keys-current-form-403-api-key-is-disabled")
        entry = page.locator("li:target")
        expect(entry).to_be_in_viewport()
        entry.get_by_role("link").first.click()
        expect(page.locator("tr:target")).to_be_in_viewport()


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
        curl = form.locator("#try-curl")
        from_the_service = curl.text_content()
        form.get_by_label("value").fill("ada & co")
        expect(curl).to_contain_text('--data-urlencode "value=ada & co" ')
        form.get_by_label("value").fill("ada")
        expect(curl).to_have_text(str(from_the_service))
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


def test_several_users_are_sent_from_the_browser_as_json(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/lookup/users")
        form = explorer_of(page)
        curl = form.locator("#try-curl")
        from_the_service = curl.text_content()
        form.get_by_label("values").fill("ada, it's ben ,,nobody")
        expect(curl).to_contain_text(
            r"""--data '{"type":"username","values":["ada","it'\''s ben","nobody"],"badges":true}'"""
        )
        form.get_by_label("values").fill("ada, nobody")
        expect(curl).to_have_text(str(from_the_service))
        form.get_by_role("checkbox", name="badges").uncheck()
        form.get_by_label("API key").fill(key_of(site, "lookup:user"))
        page.keyboard.press("Enter")
        answer = page.get_by_role("region", name="Answer to your request")
        expect(answer.get_by_role("status").first).to_have_text(re.compile(r"200 OK · \d+ ms"))
        first, second = json.loads(answer.locator("#try-body").inner_text())["results"]
        assert (first["user"]["username"], set(first), second) == (
            "ada",
            {"error", "user"},
            {"error": "User not found."},
        )
        assert axe.violations(page) == []
        page.set_viewport_size(NARROW)
        assert not scrolls_sideways(page)


def test_a_request_that_is_sent_again_is_answered_304(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/docs/lookup/user")
        form = explorer_of(page)
        form.get_by_label("API key").fill(key_of(site, "lookup:user"))
        answer, curl = page.get_by_role("region", name="Answer to your request"), form.locator("#try-curl")
        for status in ("200 OK", "304 Not Modified", "304 Not Modified"):
            form.get_by_role("button", name="Send request").click()
            expect(answer.get_by_role("status").first).to_have_text(re.compile(rf"{status} · \d+ ms"))
            expect(answer.get_by_role("term").filter(has_text=re.compile("^ETag$"))).to_be_visible()
            assert json.loads(answer.locator("#try-body").inner_text())["user"]["username"] == "ada"
            expect(curl).to_contain_text("If-None-Match: ")
        form.get_by_label("value").fill("ben")
        expect(curl).not_to_contain_text("If-None-Match: ")
        form.get_by_role("button", name="Send request").click()
        expect(answer.get_by_role("status").first).to_have_text(re.compile("200 OK"))


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
