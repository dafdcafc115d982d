"""What each form refuses, and the sentence that says why. Nothing is saved then."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from lookup import content
from lookup.models import Asset, Profile
from tests.dashboard.profile_content.editor import ROOT, Editor, picture, song
from tests.factories.lookup import SVG, CustomBadgeFactory, LinkFactory, SectionFactory, main_profile

WEB = "Use a web address such as https://example.org/ or an e-mail address such as mailto:me@example.org."
TO_WRITE = "Write where the link leads, or the text to copy."
COLOR = "Use a colour such as #1b5e4b."
TYPES = "PNG, JPEG, WebP, GIF or AVIF"
BROKEN = f"This file is broken, or of another type than {TYPES}. Its name makes no difference."
LINK = {"title": "A", "url": "https://a.example/"}
REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("links/add/", {**LINK, "url": "ftp://a.example/"}, WEB),
    ("links/add/", {**LINK, "url": "javascript:alert(1)"}, WEB),
    ("links/add/", {**LINK, "url": "mailto:nobody"}, WEB),
    ("links/add/", {**LINK, "url": ""}, TO_WRITE),
    ("links/add/", {**LINK, "url": "", "is_text": True}, TO_WRITE),
    ("links/add/", {**LINK, "url": "https://a.example/" + "a" * 2000}, "Ensure this value has at most 2000 characters"),
    ("links/add/", {**LINK, "title": "a" * 129}, "Ensure this value has at most 128 characters"),
    ("links/add/", {**LINK, "title": ["a\0b"]}, "Null characters are not allowed."),
    ("links/add/", {**LINK, "color": "green"}, COLOR),
    ("links/add/", {**LINK, "icon_svg": "<svg><script/></svg>"}, "The element script is not allowed."),
    ("links/add/", {**LINK, "icon_svg": "<b/>"}, "The outermost element must be svg."),
    (
        "links/add/",
        {**LINK, "icon_svg": SVG, "icon": picture},
        "Give one of the two, not both: empty this, or choose no file.",
    ),
    ("links/add/", {**LINK, "icon": lambda: _file(b"<html>", "a.png")}, BROKEN),
    ("links/add/", {**LINK, "icon": song}, BROKEN),
    ("links/add/", {**LINK, "icon": lambda: _file(b"", "a.png")}, "This file is empty."),
    ("badges/add/", {"name": "", "image": picture}, "This field is required."),
    ("badges/add/", {"name": "a" * 41, "image": picture}, "Ensure this value has at most 40 characters"),
    ("badges/add/", {"name": "A"}, "Choose an image, or write an SVG."),
    ("badges/add/", {"name": "A", "image": picture, "icon_svg": SVG}, "Give one of the two, not both"),
    (
        "badges/add/",
        {"name": "A", "image": lambda: _file(b"\x89PNG" + bytes(2 * 1024 * 1024), "a.png")},
        "at most 2 MiB are allowed.",
    ),
    ("widgets/add/", {"platform": "", "type": "today", "identifier": "London"}, "This field is required."),
    ("widgets/add/", {"platform": "a" * 33, "type": "b", "identifier": "c"}, "Ensure this value has at most 32"),
    ("audios/add/", {"title": "A"}, "This field is required."),
    ("audios/add/", {"title": "A", "audio": picture}, "or of another type than MP3, Ogg, WAV or M4A."),
    ("audios/add/", {"title": "A", "audio": song, "external_url": "mailto:a@b.example"}, "Enter a valid URL."),
    ("backgrounds/add/", {"title": "A"}, "This field is required."),
    ("backgrounds/add/", {"title": "A", "asset": song}, "or of another type than PNG, JPEG, WebP, GIF, AVIF, MP4 or"),
    ("projects/add/", {"title": ""}, "This field is required."),
    ("projects/add/", {"title": "A", "url": "nowhere"}, "Enter a valid URL."),
    ("projects/add/", {"title": "A", "tags": ",".join(map(str, range(21)))}, "Has 21 entries; at most 20 are allowed."),
    ("projects/add/", {"title": "A", "tags": "a" * 41}, "Entry 1: Has 41 characters; at most 40 are allowed."),
    ("gallery/add/", {"caption": "A"}, "This field is required."),
    ("gallery/add/", {"caption": "a" * 256, "asset": picture}, "Ensure this value has at most 255 characters"),
    ("sections/add/CUSTOM_TEXT/", {"title": "a" * 129}, "Ensure this value has at most 128 characters"),
    ("sections/add/CUSTOM_TEXT/", {"body": "a" * 20_001}, "Ensure this value has at most 20000 characters"),
    ("sections/add/ABOUT_ME/", {"frontend": "a" * 65}, "Entry 1: Has 65 characters; at most 64 are allowed."),
    ("sections/add/ABOUT_ME/", {"music": ",".join(map(str, range(101)))}, "Has 101 entries; at most 100 are allowed."),
)


def _file(body: bytes, name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, body, "image/png")


def made(values: dict[str, Any]) -> dict[str, Any]:
    """With new files in the place of what makes them."""
    return {name: value() if callable(value) else value for name, value in values.items()}


@pytest.mark.parametrize(("page", "values", "sentence"), REFUSED)
def test_a_form_says_what_is_wrong(
    page: str, values: dict[str, Any], sentence: str, editor: Editor, profile: Profile
) -> None:
    editor.fill(f"{ROOT}/{page}", **made(values))
    assert any(sentence in error for error in editor.errors()), editor.errors()
    assert sentence in editor.text
    assert content.LISTS[page.partition("/")[0]].rows_of(profile.pk) == []
    assert not Asset.objects.exists()


@pytest.mark.parametrize("section", ["somebody else's", "no gallery", "nothing"])
def test_a_picture_goes_into_a_gallery_of_the_profile_alone(section: str, editor: Editor, profile: Profile) -> None:
    from tests.factories.accounts import UserFactory

    pks = {
        "somebody else's": SectionFactory(profile=main_profile(UserFactory()), type="GALLERY", config={}).pk,
        "no gallery": SectionFactory(profile=profile).pk,
        "nothing": "0" * 32,
    }
    editor.open(f"{ROOT}/gallery/add/").send(f"{ROOT}/gallery/add/", asset=picture(), section=[pks[section]])
    assert editor.errors() == ["Select a valid choice. That choice is not one of the available choices."]


def test_a_stored_file_is_removed_before_a_drawing_takes_its_place(editor: Editor, profile: Profile) -> None:
    editor.fill(f"{ROOT}/links/add/", **LINK, icon=picture())
    link = profile.links.get()
    page = f"{ROOT}/links/{link.pk}/"
    editor.fill(page, icon_svg=SVG)
    assert editor.errors() == ["Tick “Remove” at the file to use this instead: one of the two, not both."]
    editor.fill(page, icon_svg=SVG, **{"icon-clear": True})
    [shown] = editor.shown("links")
    assert (shown["icon"], shown["iconSvg"]) == (None, SVG)
    assert not Asset.objects.exists(), "nothing shows the file any more"


def test_a_file_is_kept_until_another_one_replaces_it(editor: Editor, profile: Profile) -> None:
    editor.fill(f"{ROOT}/gallery/add/", caption="A", asset=picture())
    [before] = editor.shown("gallery")
    page = f"{ROOT}/gallery/{before['id']}/"
    assert "Now: " in editor.open(page).text
    editor.fill(page, caption="B")
    [same] = editor.shown("gallery")
    assert (same["caption"], same["asset"]) == ("B", before["asset"])
    editor.fill(page, asset=picture(32, 24))
    [other] = editor.shown("gallery")
    assert (other["asset"]["width"], other["asset"]["height"]) == (32, 24)
    assert Asset.objects.count() == 1


@pytest.mark.parametrize("factory", [LinkFactory, CustomBadgeFactory])
def test_what_somebody_wrote_is_escaped(factory: Any, editor: Editor, profile: Profile) -> None:
    """Any: a factory."""
    hostile = '"><img src=x>'
    column = "title" if factory is LinkFactory else "name"
    row = factory(profile=profile, **{column: hostile})
    name = "links" if factory is LinkFactory else "badges"
    for page in ("", f"{row.pk}/", f"{row.pk}/delete/"):
        body = editor.open(f"{ROOT}/{name}/{page}").response.content.decode()
        assert "<img src=x>" not in body
        assert "&lt;img src=x&gt;" in body
