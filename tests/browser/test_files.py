"""Files in Chromium: uploads, the gallery, albums."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser import people
from tests.browser.axe import problems_of
from tests.browser.people import OPERATOR, USER, Site, at_a_browser

pytestmark = pytest.mark.live
HOME = "/dashboard/imagehost/"
_PASTE = """(files) => {
    const transfer = new DataTransfer();
    for (const [name, data] of files) {
        const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type: "image/png" }));
    }
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true }));
}"""


_WATCH_SHIFTS = """() => {
    window.__moved = 0;
    const add = (entry) => { if (!entry.hadRecentInput) window.__moved += entry.value; };
    new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type: "layout-shift" });
}"""


def picture(color: str) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (320, 200), color).save(content, "PNG")
    return content.getvalue()


def chosen(*names: str) -> list[Any]:
    """Any: as Playwright takes files."""
    return [{"name": f"{name}.png", "mimeType": "image/png", "buffer": picture(name)} for name in names]


def with_files(page: Page, site: Site, *names: str) -> None:
    """A new user with these files in a public folder."""
    people.sign_up(page, site)
    page.goto(f"{HOME}folders/")
    page.get_by_label("Name", exact=True).fill("Colors")
    page.get_by_label("Anyone with the link", exact=True).check()
    page.get_by_role("button", name="Create the folder").click()
    page.goto(f"{HOME}rules/")
    page.get_by_label("Matches").fill("png")
    page.get_by_role("button", name="Add the rule").click()
    for name in names:
        page.goto(HOME)
        page.locator("input[type=file]").set_input_files(chosen(name))
        if page.get_by_role("button", name="Upload", exact=True).is_visible():
            page.get_by_role("button", name="Upload", exact=True).click()
        expect(page.locator(".shot__title", has_text=f"{name}.png")).to_be_visible()


def test_many_files_are_uploaded_pasted_cancelled_and_tried_again(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_up(page, site)
        page.goto(HOME)
        held: list[Route] = []
        page.route("**/upload/one/", lambda route: held.append(route))  # noqa: PLW0108 - it wants a function of Python
        page.get_by_label("Expires", exact=True).first.select_option("In 1 day")
        page.locator("input[type=file]").set_input_files(chosen("red", "green", "blue"))
        rows = page.locator("[data-upload-list] > li")
        expect(rows).to_have_count(3)
        expect(rows.nth(2)).to_contain_text("Waiting")
        rows.nth(2).get_by_role("button", name="Cancel").click()
        expect(rows.nth(2)).to_contain_text("Canceled.")
        page.wait_for_timeout(200)  # a third request would be held by now
        assert len(held) == 2
        held[0].abort()
        expect(rows.nth(0)).to_contain_text("The connection broke off.")
        held[1].continue_()
        expect(rows.nth(1).get_by_role("button", name="Copy link")).to_be_visible()
        page.unroute("**/upload/one/")
        for row in (rows.nth(0), rows.nth(2)):
            row.get_by_role("button", name="Try again").click()
            expect(row).to_contain_text("Stored")
        page.evaluate(_PASTE, [["image.png", base64.b64encode(picture("black")).decode()], ["no.png", "bm8="]])
        expect(rows.nth(3)).to_contain_text("Stored")
        expect(rows.nth(4)).to_contain_text("File type not allowed.")
        expect(page.locator("[data-upload-status]")).to_have_text("4 uploaded, 1 not uploaded")
        expect(page.locator(".shot")).to_have_count(4)
        expect(page.locator(".expiry")).to_have_count(4)


def selected(page: Page) -> list[str]:
    """The titles of the cards whose boxes are checked, newest first."""
    return page.locator(".shot:has(:checked) .shot__title").all_inner_texts()


def test_files_are_selected_and_their_menus_opened_by_keyboard(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        with_files(page, site, "red", "green", "blue")
        page.goto(HOME)
        bulk = page.get_by_role("group", name="Actions for the selected files")
        expect(bulk).to_be_hidden()
        page.locator(".shot__link").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        expect(page.get_by_label("Select green.png")).to_be_checked()
        expect(page.locator("[data-gallery-status]")).to_have_text("1 selected")
        expect(bulk).to_be_visible()
        for key, titles in (
            ("Shift+ArrowRight", ["green.png", "red.png"]),
            ("Shift+ArrowLeft", ["green.png"]),
            ("Shift+ArrowLeft", ["blue.png", "green.png"]),
            ("Shift+End", ["green.png", "red.png"]),
        ):
            page.keyboard.press(key)
            assert selected(page) == titles, key
        assert problems_of(page) == []
        menu = page.get_by_label("More for blue.png")
        menu.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Download blue.png")).to_be_visible()
        assert problems_of(page) == []
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Download blue.png")).to_be_hidden()
        expect(menu).to_be_focused()


def test_a_small_picture_lies_in_the_middle_of_its_page(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        with_files(page, site, "red")
        page.goto(HOME)
        page.goto(str(page.locator(".shot__link").first.get_attribute("href")))
        frame, picture = (page.locator(f".file__medium{part}").bounding_box() for part in ("", " > img"))
        assert frame is not None
        assert picture is not None
        assert frame["height"] >= 250
        above, below = picture["y"] - frame["y"], frame["y"] + frame["height"] - picture["y"] - picture["height"]
        assert abs(above - below) < 2
        assert problems_of(page) == []


def test_the_gallery_by_keyboard(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        with_files(page, site, "red", "green", "blue")
        page.goto(HOME)
        page.locator(".shot__link").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("img")).to_have_attribute("alt", "green.png")
        expect(dialog).to_contain_text("2 of 3")
        page.keyboard.press("ArrowRight")
        expect(dialog.locator("img")).to_have_attribute("alt", "red.png")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(page.locator("[data-view]:focus [data-title]")).to_have_text("red.png")
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        dialog.get_by_role("link", name="View page").click()
        page.get_by_role("link", name="Colors").click()
        page.locator(".tile__link").nth(2).focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        expect(dialog.locator("img")).to_have_attribute("alt", "green.png")
        dialog.get_by_role("button", name="Next").click()
        dialog.get_by_role("button", name="Close").click()
        expect(page.locator(".tile__link").nth(2)).to_be_focused()


def test_a_shift_click_selects_all_up_to_there_and_nothing_moves(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        with_files(page, site, "red", "green", "blue")
        page.goto(HOME)
        page.evaluate(_WATCH_SHIFTS)
        page.get_by_label("Select blue.png").click()
        page.get_by_label("Select red.png").click(modifiers=["Shift"])
        assert selected(page) == ["blue.png", "green.png", "red.png"]
        page.get_by_label("Select green.png").click(modifiers=["Shift"])
        assert selected(page) == ["red.png"]
        page.get_by_role("button", name="Select all on this page").click()
        assert len(selected(page)) == 3
        page.get_by_role("button", name="Select none").click()
        assert selected(page) == []
        page.wait_for_timeout(300)
        assert page.evaluate("window.__moved") == 0


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_files_are_uploaded_renamed_moved_and_deleted_on_a_phone(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        with_files(page, site, "red", "green")
        page.goto(HOME)
        field, heading = (page.locator(place).bounding_box() for place in ("input[type=file]", "h1"))
        assert field
        assert heading
        assert (field["y"] > heading["y"], field["height"] >= 56, field["width"] >= 200) == (True, True, True)
        expect(page.get_by_role("button", name="Apply")).to_be_hidden()
        page.get_by_label("More for red.png").click()
        page.get_by_role("link", name="Edit red.png").click()
        page.get_by_role("textbox", name="Name").fill("Sunset.png")
        page.get_by_role("textbox", name="Caption").fill("Seen from the bridge")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Sunset.png")).to_be_visible()
        assert problems_of(page, scripts=scripts) == []
        page.get_by_role("link", name="View page").click()
        expect(page.get_by_role("img", name="Seen from the bridge")).to_be_visible()
        assert problems_of(page, scripts=scripts) == []
        page.goto(HOME)
        page.get_by_label("Select Sunset.png").check()
        page.get_by_label("With the selected files").select_option("No folder")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("1 file moved to no folder.")).to_be_visible()
        page.get_by_label("Select Sunset.png").check()
        page.get_by_label("Select green.png").check()
        assert problems_of(page, scripts=scripts) == []
        page.get_by_label("With the selected files").select_option("Delete…")
        page.get_by_role("button", name="Apply").click()
        page.get_by_role("button", name="Delete the files").click()
        expect(page.get_by_text("2 files deleted.")).to_be_visible()


def test_views_are_counted_for_the_owner_to_see(chrome: Browser, site: Site) -> None:
    person = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
    with at_a_browser(chrome, site) as page:
        with_files(page, site, "red")
        page.goto(HOME)
        link = page.locator(".shot__link").get_attribute("href")
        assert link
        visitor = chrome.new_context(base_url=site.base_url, user_agent=person)
        try:
            opened = visitor.new_page()
            opened.goto(link)
            with opened.expect_download():
                opened.get_by_role("link", name="Download").click()
        finally:
            visitor.close()
        page.wait_for_timeout(3_000)  # the notes of requests are written every two seconds
        page.reload()
        expect(page.locator(".shot")).to_contain_text("1 view, 1 download")
        page.get_by_label("More for red.png").click()
        page.get_by_role("link", name="Edit red.png").click()
        expect(page.get_by_text("1 view and 1 download in the last 30 days")).to_be_visible()
        assert problems_of(page) == []


def test_without_scripts_a_folder_is_walked_page_by_page(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site, scripts=False, is_narrow=True) as page:
        with_files(page, site, "red", "green")
        page.goto(HOME)
        page.locator(".shot__link").first.click()
        page.get_by_role("link", name="Colors").click()
        page.locator(".tile__link").first.click()
        page.get_by_role("link", name="Next").click()
        expect(page.get_by_role("heading", name="red.png")).to_be_visible()
        expect(page.get_by_role("link", name="Next")).to_have_count(0)
        page.get_by_text("Share and embed").click()
        expect(page.get_by_role("textbox", name="Markdown")).to_be_visible()
        page.get_by_role("textbox", name="BBCode").select_text()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_an_album_is_made_shared_and_ended(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as page:
        with_files(page, site, "red", "green")
        page.goto(HOME)
        page.get_by_label("Select red.png").check()
        page.get_by_label("Select green.png").check()
        page.get_by_label("With the selected files").select_option("New album")
        page.get_by_role("button", name="Apply").click()
        page.get_by_role("textbox", name="Title").fill("Colors of <summer>")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("button", name="Move red.png up").click()
        expect(page.get_by_role("button", name="Move red.png up")).to_be_disabled()
        edit, link = page.url, page.locator("#copy-album").inner_text()
        assert problems_of(page, scripts=scripts) == []

        page.goto(link)
        expect(page.get_by_role("heading", name="Colors of <summer>")).to_be_visible()
        expect(page.locator(".tile__title").first).to_have_text("red.png")
        page.get_by_text("Share and embed").click()
        expect(page.get_by_role("textbox", name="Page link")).to_have_value(link)
        if scripts:
            assert problems_of(page) == []
            page.locator(".tile__link").first.click()
            assert problems_of(page) == []
            page.get_by_role("dialog").get_by_role("link", name="View page").click()
        else:
            page.locator(".tile__link").first.click()
        page.get_by_role("link", name="Next").click()
        expect(page.get_by_role("heading", name="green.png")).to_be_visible()

        page.goto(edit)
        page.get_by_role("link", name="Reset the link").click()
        page.get_by_role("button", name="Reset the link").click()
        expect(page.locator("#copy-album")).not_to_have_text(link)
        assert page.request.get(link).status == 404
        page.get_by_role("link", name="Delete").first.click()
        page.get_by_role("button", name="Delete the album").click()
        expect(page.get_by_text("No albums yet")).to_be_visible()


def test_on_a_phone_the_title_comes_first_and_nothing_speaks_of_a_mouse(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site, is_narrow=True) as page:
        people.sign_in(page, site.account(USER))
        page.goto(HOME)
        parts = [page.get_by_role("heading", level=1), *map(page.locator, (".tabs", ".upload", ".shots"))]
        boxes = [part.bounding_box() for part in parts]
        tops = [box["y"] for box in boxes if box is not None]
        assert len(tops) == 4
        assert tops == sorted(tops)
        assert (
            page.evaluate(
                "[...document.querySelectorAll('h1, .tabs, .upload, .shots')].map((part) => part.tagName).join()"
            )
            == "H1,UL,SECTION,UL"
        )
        expect(page.locator(".shots-hint")).to_be_hidden()
        expect(page.get_by_text("or paste them")).to_be_hidden()
        expect(page.get_by_text("Files are uploaded as soon as you choose them.")).to_be_visible()
        for place in (0, 1):  # a menu of the left column and one of the right
            page.locator(".shot summary").nth(place).click()
            menu = page.locator(".shot .popup__items").nth(place).bounding_box()
            assert menu is not None
            assert menu["x"] >= 0
            assert menu["x"] + menu["width"] <= 320
            page.keyboard.press("Escape")
            page.locator(".shot summary").nth(place).click()


def test_a_file_in_quarantine_is_opened_by_staff_on_a_click_only(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(OPERATOR))
        page.goto("/dashboard/staff/files/?state=QUARANTINED")
        assert page.locator(".find__picture img").count() == 0
        seen: list[str] = []
        page.on("request", lambda request: seen.append(request.url))
        page.get_by_role("link", name="My painting.png", exact=True).click()
        page.wait_for_load_state("networkidle")
        assert [url for url in seen if url.endswith("/picture/")] == []
        page.get_by_text("Show what is in quarantine").click()
        expect(page.locator(".case__picture")).to_have_js_property("naturalWidth", 1200)
