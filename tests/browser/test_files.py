"""Files of the image host in the browser: many uploads at once, the keyboard, the light view."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser import people
from tests.browser.people import Site, at_a_browser
from tests.browser.test_every_page import problems_of

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


def picture(colour: str) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (320, 200), colour).save(content, "PNG")
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


def test_the_gallery_by_keyboard(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        with_files(page, site, "red", "green", "blue")
        page.goto(HOME)
        page.locator(".shot__link").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        expect(page.get_by_label("Select green.png")).to_be_checked()
        expect(page.locator("[data-selected]")).to_have_text("1 selected")
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
        assert page.evaluate("document.activeElement.querySelector('[data-title]').textContent") == "red.png"
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
        page.get_by_label("Selected to album").select_option("New album")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("textbox", name="Title").fill("Colors of <summer>")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("button", name="Move red.png up").click()
        expect(page.get_by_role("button", name="Move red.png up")).to_be_disabled()
        edit, link = page.url, page.locator("#copy-album").inner_text()
        if scripts:
            assert problems_of(page) == []

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
