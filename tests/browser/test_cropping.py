"""Pictures that are cropped in Chromium before they are sent."""

from __future__ import annotations

import io
from typing import Literal

import pytest
from PIL import ExifTags, Image
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import people
from tests.browser.axe import violations
from tests.browser.chromium import NARROW, scrolls_sideways
from tests.browser.people import USER, Site, at_a_browser

pytestmark = pytest.mark.live

MEDIA = "/dashboard/profile/media/"
LEFT, RIGHT = (200, 30, 30), (30, 30, 200)  # the halves of the picture as people see it
_FACTS = """async (input) => {
    const file = input.files[0];
    if (!file) return null;
    const picture = await createImageBitmap(file);
    const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
    canvas.getContext("2d").drawImage(picture, 0, 0);
    const at = (x) => [...canvas.getContext("2d").getImageData(x, picture.height / 2, 1, 1).data].slice(0, 3);
    return { name: file.name, size: [picture.width, picture.height], left: at(1), right: at(picture.width - 2) };
}"""

_COLORS = """async (image) => {
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 100, height: 100 });
    canvas.getContext("2d").drawImage(image, 0, 0, 100, 100);
    const at = (x) => [...canvas.getContext("2d").getImageData(x, 50, 1, 1).data].slice(0, 3);
    return { left: at(1), right: at(98) };
}"""


def photo() -> bytes:
    """A JPEG of 600 by 300 pixels that a camera stored lying on its side."""
    upright = Image.new("RGB", (600, 300), LEFT)
    upright.paste(RIGHT, (300, 0, 600, 300))
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6  # turned right to be seen upright
    content = io.BytesIO()
    upright.transpose(Image.Transpose.ROTATE_90).save(content, "JPEG", exif=exif, quality=95)
    return content.getvalue()


def give(page: Page, name: str, content: bytes, file: str = "photo.jpg") -> Locator:
    field = page.locator(f"input[name={name}]")
    field.set_input_files({"name": file, "mimeType": "application/octet-stream", "buffer": content})
    return field


def is_near(color: list[int], wanted: tuple[int, int, int]) -> bool:
    return all(abs(one - other) < 25 for one, other in zip(color, wanted, strict=True))


def test_a_picture_is_cropped_by_keyboard_and_sent_at_once(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.goto(MEDIA)
        page.get_by_role("navigation", name="Files on your page").get_by_role("link", name="Picture").click()
        expect(page.locator("#place-avatar")).to_be_in_viewport()
        field = give(page, "avatar-file", photo())
        dialog = page.get_by_role("dialog", name="Crop the picture")
        expect(dialog).to_be_visible()
        for _ in range(30):
            page.keyboard.press("ArrowLeft")
        expect(dialog.get_by_role("status")).to_contain_text("This is the edge")
        page.keyboard.press("-")
        expect(dialog.get_by_role("status")).to_have_text("Cannot zoom out any further.")
        page.get_by_role("button", name="Cancel").click()
        assert field.evaluate(_FACTS) is None, "cancelled: nothing is sent"
        give(page, "avatar-file", photo(), "again.jpg")
        for _ in range(30):
            page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="Use this part").press("Enter")
        expect(page.get_by_text("Picture: file saved.")).to_be_visible()
        expect(page.get_by_text("WebP picture, 300 \N{MULTIPLICATION SIGN} 300 px")).to_be_visible()
        found = page.locator(".page-drawing__avatar img").evaluate(_COLORS)
        assert is_near(found["left"], LEFT)
        assert is_near(found["right"], LEFT)


def test_a_picture_is_dragged_and_zoomed(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.goto("/dashboard/apps/new/")
        field = give(page, "logo", photo())
        picture = page.get_by_role("img", name="The part that is used").bounding_box()
        assert picture
        page.mouse.move(picture["x"] + 200, picture["y"] + 100)
        page.mouse.down()
        page.mouse.move(picture["x"] - 400, picture["y"] + 100, steps=4)
        page.mouse.up()
        page.get_by_role("button", name="Zoom in").click()
        page.get_by_role("button", name="Use this part").click()
        expect(page.get_by_text("Cropped, not saved yet.")).to_be_visible()
        found = field.evaluate(_FACTS)
        assert (found["name"], found["size"]) == ("photo.webp", [261, 261])
        assert is_near(found["left"], RIGHT)
        page.get_by_role("button", name="Crop again").click()
        page.get_by_role("button", name="Cancel").click()
        assert field.evaluate(_FACTS) == found, "cancelled: the first part stays"


def test_whole_cancelled_and_animated_pictures_are_not_cropped(chrome: Browser, site: Site) -> None:
    gif = io.BytesIO()
    Image.new("RGB", (8, 8), LEFT).save(gif, "GIF", save_all=True, append_images=[Image.new("RGB", (8, 8), RIGHT)])
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.goto(MEDIA)
        give(page, "banner-file", photo())
        page.get_by_role("button", name="Use the whole picture").click()
        expect(page.get_by_text("Banner: file saved.")).to_be_visible()
        expect(page.get_by_text("JPEG picture, 600 \N{MULTIPLICATION SIGN} 300 px")).to_be_visible()
        field = give(page, "banner-file", photo(), "other.jpg")
        page.get_by_role("dialog").press("Escape")
        expect(page.locator(".crop-note")).to_have_count(0)
        assert field.evaluate(_FACTS) is None
        field = give(page, "banner-file", gif.getvalue(), "moves.gif")
        expect(page.get_by_text("Pictures that may be animated are not cropped.")).to_be_visible()
        assert field.evaluate("input => input.files[0].size") == len(gif.getvalue())
        give(page, "metadata_banner-file", b"no picture")
        page.get_by_role("button", name="Preview picture").click()
        expect(page.get_by_text("This file is broken")).to_be_visible()


def test_the_logo_of_an_app_is_cropped_and_previewed(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.goto("/dashboard/apps/new/")
        page.get_by_label("Name", exact=True).fill("Lamps")
        field = give(page, "logo", photo())
        with page.expect_response("**/preview/**"):
            page.get_by_role("button", name="Use this part").click()
        expect(page.locator("[data-preview-place] img")).to_be_visible()
        assert field.evaluate(_FACTS)["size"] == [300, 300]


def test_without_scripts_the_whole_picture_is_uploaded(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site, scripts=False) as page:
        people.sign_in(page, site.account(USER))
        page.goto(MEDIA)
        give(page, "banner-file", photo())
        page.get_by_role("button", name="Replace: Banner").click()
        expect(page.get_by_text("JPEG picture, 600 \N{MULTIPLICATION SIGN} 300 px")).to_be_visible()
        page.locator("#clients > summary").click()
        give(page, "cursor-file", photo())
        page.get_by_role("button", name="Replace: Cursor", exact=True).click()
        expect(page.get_by_text("Cursor: file saved.")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_dialog_is_accessible_and_fits(chrome: Browser, site: Site, scheme: Literal["light", "dark"]) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(USER))
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(NARROW)
        page.goto(MEDIA)
        give(page, "banner-file", photo())
        expect(page.get_by_role("dialog")).to_be_visible()
        assert violations(page) == []
        assert not scrolls_sideways(page)
        assert page.get_by_role("dialog").evaluate("box => box.scrollWidth <= box.clientWidth")
