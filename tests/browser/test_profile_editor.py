"""The profile editor and the account in Chromium."""

from __future__ import annotations

import contextlib
import json
from typing import Literal

import pytest
from playwright.sync_api import Browser, Dialog, FilePayload, Page, expect

from tests.browser import people
from tests.browser.axe import problems_of, violations
from tests.browser.chromium import WIDE, scrolls_sideways
from tests.browser.people import USER, Site, at_a_browser
from tests.journeys import post_office
from tests.journeys.people import stranger
from tests.journeys.post_office import LogPostOffice

pytestmark = pytest.mark.live
ROOT = "/dashboard/profile/"
WIDTH_OF_NO_FILE = 215  # pixels that "Choose File  No file chosen" takes in its smallest text
FIRST_FIELD = "main :is(.field, .setting, .row, .media-card)"


def test_on_a_phone_the_first_field_is_near_the_top(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.set_viewport_size({"width": 390, "height": 844})
        for path in ("", "appearance/", "links/", "links/add/", "sections/"):
            page.goto(f"{ROOT}{path}")
            box = page.locator(FIRST_FIELD).first.bounding_box()
            assert box, path
            assert box["y"] < 400, (path, box)
            current = page.locator(".profile-menu [aria-current]").first.bounding_box()
            assert current, path
            assert 0 <= current["x"] < 390 - current["width"], (path, current)
            assert not scrolls_sideways(page), path


def test_at_a_desk_the_first_three_fields_are_above_the_save_button(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(ROOT)
        bar = page.locator(".save-bar").bounding_box()
        assert bar
        for label in ("Display name", "Description", "Location"):
            box = page.get_by_label(label).bounding_box()
            assert box, label
            assert box["y"] + box["height"] < bar["y"], (label, box, bar)


def test_the_preview_follows_what_is_typed(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.goto(ROOT)
        frame = page.frame_locator("iframe[name=profile-preview]")
        expect(frame.get_by_text("This is a preview")).to_be_visible()
        page.get_by_label("Location").fill("Reykjavik")
        expect(frame.get_by_text("Reykjavik")).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{ROOT}appearance/")
        expect(page.locator("iframe[name=profile-preview]")).to_be_hidden()
        page.get_by_role("button", name="Preview").click()
        expect(page.frame_locator("iframe[name=profile-preview]").get_by_text("This is a preview")).to_be_visible()


def test_the_preview_of_a_new_link_is_the_page_as_it_is_until_something_is_typed(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.goto(f"{ROOT}links/add/")
        frame = page.frame_locator("iframe[name=profile-preview]")
        expect(frame.get_by_text("What you type appears here")).to_be_visible()
        expect(frame.locator(".notice--warning")).to_have_count(0)
        buttons = [box for one in page.locator("form.panel .actions > *:visible").all() if (box := one.bounding_box())]
        assert len({round(box["y"] + box["height"] / 2) for box in buttons}) == 1, "the buttons stand in one row"
        page.get_by_label("Title").fill("Lamps")
        expect(frame.get_by_text("Write where the link leads, or the text to copy.")).to_be_visible()
        page.get_by_label("Address").fill("lamps.example")
        expect(frame.get_by_text("Lamps", exact=True)).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_link_begins_with_its_address(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.account(USER))
        page.goto(f"{ROOT}links/add/")
        address, title = page.get_by_label("Address"), page.get_by_label("Title")
        address.fill("github.com/ada")
        if scripts:
            frame = page.frame_locator("iframe[name=profile-preview]")
            expect(title).to_have_value("@ada on GitHub")
            expect(frame.get_by_text("@ada on GitHub")).to_be_visible()
            title.fill("My own words")
            address.fill("mastodon.social/@ada")
            page.get_by_text("More", exact=True).click()
            expect(page.get_by_label("Platform")).to_have_value("mastodon")
            expect(title).to_have_value("My own words")
            expect(frame.get_by_text("My own words")).to_be_visible()
            assert problems_of(page) == []
            title.fill("")
        else:
            with page.context.expect_page() as opened:
                page.get_by_role("button", name="Preview in a new tab").click()
            expect(opened.value.get_by_text("@ada on GitHub")).to_be_visible()
            opened.value.close()
        page.get_by_role("button", name="Add link").click()
        expect(page.get_by_text("Taken from the address: title")).to_be_visible()
        assert not scrolls_sideways(page)


_FOCUSED = """() => {
    const one = document.activeElement;
    if (one === document.body || one.dataset.visited) return "ROUND";
    one.dataset.visited = "yes";
    return one.tagName;
}"""


def test_keys_pass_the_preview_and_it_logs_nothing(chrome: Browser, site: Site) -> None:
    """In a browser without scripts of tests, which the sandbox of the frame would block and report."""
    logged: list[str] = []
    with contextlib.closing(chrome.new_context(base_url=site.base_url, viewport=WIDE)) as context:
        page = context.new_page()
        people.sign_in(page, site.account(USER))
        page.on("console", lambda message: logged.append(message.text))
        for path in ("", "theme/", "links/", "links/add/", "sections/add/CUSTOM_TEXT/"):
            page.goto(f"{ROOT}{path}")
            frame = page.frame_locator("iframe").first
            expect(frame.locator("h1")).to_be_visible()
            expect(frame.locator(".site-header, .site-footer, script")).to_have_count(0)
            visited: list[str] = []
            while "ROUND" not in visited and len(visited) < 250:
                page.keyboard.press("Tab")
                visited.append(str(page.evaluate(_FOCUSED)))
            assert len(visited) > 20, visited
            assert "IFRAME" not in visited, path
    assert logged == []


def test_the_preview_beside_a_list_follows_each_change(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.goto(f"{ROOT}links/")
        row = page.locator(".row[data-pk]").first
        name = row.locator(".row__title").inner_text().split("\n")[0]
        shown = page.frame_locator(".preview-fold iframe").get_by_text(name, exact=True)
        expect(shown.first).to_be_visible()
        row.get_by_role("switch").click()
        expect(page.get_by_text(f"{name} is off.")).to_be_visible()
        expect(page.frame_locator(".preview-fold iframe").locator("h1")).to_be_visible()
        expect(shown).to_have_count(0)
        page.locator(".row[data-pk]").first.get_by_role("switch").click()
        expect(shown.first).to_be_visible()
        with page.expect_request(lambda request: "/preview/saved/" in request.url):
            page.locator(".row[data-pk]").nth(1).locator(".drag-handle").drag_to(page.locator(".row[data-pk]").first)
        assert violations(page) == []
        page.set_viewport_size({"width": 320, "height": 640})
        page.goto(f"{ROOT}links/")
        expect(page.locator(".preview-fold iframe")).to_be_hidden()
        page.locator(".preview-fold > summary").click()
        expect(shown.first).to_be_attached()
        assert not scrolls_sideways(page)


def test_text_that_is_not_saved_is_not_lost_without_a_question(chrome: Browser, site: Site) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.on("dialog", stay)
        page.goto(f"{ROOT}links/add/")
        _leave(page)
        expect(page).to_have_url(f"{site.base_url}{ROOT}theme/")
        assert asked == []
        page.goto(f"{ROOT}links/add/")
        page.get_by_label("Title").press_sequentially("Lamps")
        _leave(page)
        expect(page.get_by_label("Title")).to_have_value("Lamps")
        assert asked == ["beforeunload"]
        page.get_by_label("Address").fill("lamps.example")
        page.get_by_role("button", name="Add link").click()
        expect(page.get_by_text("Lamps: added.")).to_be_visible()
        assert asked == ["beforeunload"]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_an_import_shows_its_changes_and_makes_them(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        people.sign_in(page, site.account(USER))
        line = page.request.get(f"{ROOT}transfer/export/").json()
        place = f"By the lake {scripts}"
        line["profile"]["location"], line["links"][0]["title"] = place, f"Lamps {scripts}"
        page.goto(f"{ROOT}transfer/")
        file: FilePayload = {
            "name": "me.json",
            "mimeType": "application/json",
            "buffer": json.dumps(line).encode(),
        }
        page.get_by_label("File", exact=True).set_input_files(file)
        page.get_by_role("button", name="Check the file").click()
        expect(page.locator("ins").get_by_text(place)).to_be_visible()
        expect(page.get_by_text(f"Changed: Lamps {scripts}")).to_be_visible()
        if scripts:
            schemes: list[Literal["light", "dark"]] = ["light", "dark"]
            for scheme in schemes:
                page.emulate_media(color_scheme=scheme)
                assert violations(page) == []
            assert not scrolls_sideways(page)
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_text("Profile imported.")).to_be_visible()
        expect(page.get_by_label("Location")).to_have_value(place)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_links_of_another_page_are_shown_and_added(chrome: Browser, site: Site, scripts: bool) -> None:
    name = f"shop-{scripts}.example".lower()
    saved = (
        f"<!DOCTYPE html><html><body><a href='https://{name}/'>Shop {scripts}</a><a href='tel:1'>Call</a></body></html>"
    )
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        people.sign_in(page, site.account(USER))
        page.goto(f"{ROOT}transfer/")
        file: FilePayload = {"name": "page.html", "mimeType": "text/html", "buffer": saved.encode()}
        page.get_by_label("Saved page or table").set_input_files(file)
        page.get_by_role("button", name="Check the links").click()
        expect(page.get_by_text(f"Shop {scripts} (https://{name}/)")).to_be_visible()
        expect(page.get_by_text("Only web addresses and email addresses can be links.")).to_be_visible()
        if scripts:
            schemes: list[Literal["light", "dark"]] = ["light", "dark"]
            for scheme in schemes:
                page.emulate_media(color_scheme=scheme)
                assert violations(page) == []
            assert not scrolls_sideways(page)
        page.get_by_role("button", name="Add these links").click()
        expect(page.get_by_text("Links added.")).to_be_visible()
        expect(page.locator(".row__title").last).to_contain_text(f"Shop {scripts}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_media_page_is_accessible_and_no_file_input_is_cut(
    chrome: Browser, site: Site, scheme: Literal["light", "dark"]
) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.emulate_media(color_scheme=scheme)
        for width in (1280, 390, 320):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{ROOT}media/#clients")
            expect(page.locator("#clients[open]")).to_be_visible()
            assert not scrolls_sideways(page), width
            narrowest = page.eval_on_selector_all("input[type=file]", "all => Math.min(...all.map(i => i.clientWidth))")
            assert narrowest >= WIDTH_OF_NO_FILE, (width, narrowest)
            assert violations(page) == []


def _leave(page: Page) -> None:
    page.get_by_role("navigation", name="Parts of the profile").get_by_role("link", name="Appearance").click()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_row_is_switched_moved_deleted_and_brought_back(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.account(USER))
        page.goto(f"{ROOT}links/")
        row = page.locator(".row[data-pk]").nth(1)
        row_id, name = row.get_attribute("id"), row.locator(".row__title").inner_text().split("\n")[0]
        row = page.locator(f"#{row_id}")
        switch = row.get_by_role("switch")
        for state in ("off", "on"):
            switch.click()
            expect(row.get_by_text(f"{name} is {state}.")).to_be_visible()
            expect(row).to_be_focused()
        assert scripts is False or violations(page) == []
        row.locator("summary").press("Enter")
        row.get_by_role("button", name=f"Up: {name}").click()
        expect(page.locator(".row[data-pk]").first).to_have_attribute("id", str(row_id))
        expect(row.get_by_text("The new order is saved.")).to_be_visible()
        row.locator("summary").click()
        row.get_by_role("link", name=f"Delete {name}").click()
        page.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(row.get_by_text(f"{name}: restored.")).to_be_visible()
        expect(page.locator(".row[data-pk]").first).to_have_attribute("id", str(row_id))


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_wrong_address_is_changed_and_the_new_one_confirmed(chrome: Browser, site: Site, scripts: bool) -> None:
    person = stranger()
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        page.goto("/accounts/signup/")
        page.locator("input[name=email]").fill(f"wrong-{person.email}")
        page.locator("input[name=username]").fill(person.username)
        page.locator("input[name=password1]").fill(person.password)
        page.get_by_role("button", name="Sign up", exact=True).click()
        assert problems_of(page, scripts=scripts) == []
        page.get_by_role("link", name="Change it").click()
        assert not scrolls_sideways(page)
        assert problems_of(page, scripts=scripts) == []
        page.get_by_label("New email address").fill(person.email)
        page.get_by_role("button", name="Send a new code").click()
        expect(page.get_by_text(f"We have sent a code to {person.email}")).to_be_visible()
        page.locator("input[name=code]").fill(post_office.code_for(LogPostOffice(site.server.log), person.email))
        page.get_by_role("button", name="Confirm", exact=True).click()
        page.wait_for_url("**/dashboard/**")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_theme_is_picked_with_one_click_or_by_keys(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, site.demo["users"][2])
        page.goto(f"{ROOT}theme/")
        before = page.locator("input[name=theme]:checked").get_attribute("value") or ""
        expect(page.get_by_label("Take back my own changes")).not_to_be_visible()
        page.get_by_text("Midnight", exact=True).last.click()
        if scripts:
            frame = page.frame_locator("iframe[name=profile-preview]")
            expect(frame.locator("link[href*='effect=stars']")).to_be_attached()
            assert problems_of(page) == []
            page.keyboard.press("ArrowDown")
            expect(frame.locator("link[href*='effect=grid']")).to_be_attached()
            page.keyboard.press("ArrowUp")
        assert page.get_by_label("Midnight").is_checked()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Profile saved.")).to_be_visible()
        assert page.get_by_label("Midnight").is_checked()
        page.locator(f"input[name=theme][value={before}]").check()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Profile saved.")).to_be_visible()


def test_every_theme_of_a_profile_is_accessible(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.demo["users"][2])
        page.goto(f"{ROOT}theme/")
        names = [one.get_attribute("value") or "" for one in page.locator("input[name=theme]").all()]
        before = page.locator("input[name=theme]:checked").get_attribute("value") or ""
        for name in (*names, before):
            page.goto(f"{ROOT}theme/")
            page.locator(f"input[name=theme][value={name}]").check()
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_text("Profile saved.")).to_be_visible()
            page.goto(f"/{site.demo['users'][2]['username']}")
            assert problems_of(page) == [], name
