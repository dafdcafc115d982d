"""The documentation in a browser: tabs of code, languages of samples, search, sign-in buttons."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

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


def test_the_styled_button_shows_focus_and_disabled_and_keeps_a_border_in_forced_colours(
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
