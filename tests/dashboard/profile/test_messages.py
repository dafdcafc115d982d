"""What each form refuses, and how it explains it; files of rows."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile

from dashboard.profile.section_forms import FORMS
from lookup.documents import registry
from lookup.editing import content
from lookup.models import (
    Asset,
    Audio,
    CustomBadge,
    GalleryItem,
    Link,
    Profile,
    Project,
    Section,
)
from tests.dashboard.profile.editor import ROOT, Editor, picture, song
from tests.factories.accounts import UserFactory
from tests.factories.lookup import SVG, AssetFactory, LinkFactory, SectionFactory, main_profile

WEB = "Use a web address such as https://example.org/ or an email address such as mailto:me@example.org."
TO_WRITE = "Write where the link leads, or the text to copy."
COLOR = "Use a color such as #1b5e4b."
TYPES = "PNG, JPEG, WebP, GIF or AVIF"
BROKEN = f"This file is broken, or of another type than {TYPES}. Only its content counts."
LINK = {"title": "A", "url": "https://a.example/"}
BOTH = "Use a file or this field, not both: empty this field, or choose no file."
REFUSED: tuple[tuple[Any, dict[str, Any], str], ...] = (  # the row, what is typed, the sentence
    (Link(), {**LINK, "url": "ftp://a.example/"}, WEB),
    (Link(), {**LINK, "url": "mailto:nobody"}, WEB),
    (Link(), {**LINK, "url": "", "is_text": True}, TO_WRITE),
    (Link(), {**LINK, "url": "https://a.example/" + "a" * 2000}, "Ensure this value has at most 2000 characters"),
    (Link(), {**LINK, "title": "a\0b"}, "Null characters are not allowed."),
    (Link(), {**LINK, "color": "green"}, COLOR),
    (Link(), {**LINK, "icon_svg": "<svg><script/></svg>"}, "The element script is not allowed."),
    (Link(), {**LINK, "icon_svg": SVG, "icon": picture}, BOTH),
    (Link(), {**LINK, "icon": lambda: _file(b"")}, "This file is empty."),
    (CustomBadge(), {"name": "", "image": picture}, "This field is required."),
    (CustomBadge(), {"name": "A"}, "Choose an image, or write an SVG."),
    (CustomBadge(), {"name": "A", "image": lambda: _file(bytes(2**21 + 1))}, "at most 2 MB are allowed."),
    (Audio(), {"title": "A", "audio": song, "external_url": "mailto:a@b.example"}, "Enter a valid URL."),
    (Project(), {"title": "A", "url": "nowhere"}, "Enter a valid URL."),
    (Project(), {"title": "A", "tags": ",".join(map(str, range(21)))}, "Has 21 entries; at most 20 are allowed."),
    (Project(), {"title": "A", "tags": "a" * 41}, "Entry 1: Has 41 characters; at most 40 are allowed."),
    (GalleryItem(), {"caption": "A"}, "This field is required."),
    (Section(type="CUSTOM_TEXT"), {"body": "a" * 20_001}, "Ensure this value has at most 20000 characters"),
    (Section(type="ABOUT_ME"), {"frontend": "a" * 65}, "Entry 1: Has 65 characters; at most 64 are allowed."),
    (Section(type="ABOUT_ME"), {"music": ",".join(map(str, range(101)))}, "Has 101 entries; at most 100 are allowed."),
)


def _file(body: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("a.png", body, "image/png")


@pytest.mark.parametrize(("row", "values", "sentence"), REFUSED, ids=range(len(REFUSED)))
def test_a_form_explains_what_is_wrong(row: Any, values: dict[str, Any], sentence: str, profile: Profile) -> None:
    files = {name: value() for name, value in values.items() if callable(value)}
    form = FORMS[type(row)](values, files, instance=copy.deepcopy(row), profile=profile)
    assert not form.is_valid()
    assert any(sentence in message for messages in form.errors.values() for message in messages), form.errors


@pytest.mark.parametrize(
    ("page", "values", "sentence"),
    [
        ("links/add/", {**LINK, "url": "javascript:alert(1)"}, WEB),
        ("links/add/", {**LINK, "icon": song}, BROKEN),
        ("audios/add/", {"title": "A", "audio": picture}, "or of another type than MP3, Ogg, WAV or M4A."),
    ],
)
def test_the_page_shows_what_is_wrong_and_nothing_is_saved(
    page: str, values: dict[str, Any], sentence: str, editor: Editor, profile: Profile
) -> None:
    editor.fill(f"{ROOT}/{page}", **{name: value() if callable(value) else value for name, value in values.items()})
    assert any(sentence in error for error in editor.errors()), editor.errors()
    assert sentence in editor.text
    assert registry.LISTS[page.partition("/")[0]].rows_of(profile.pk) == []
    assert not Asset.objects.exists()


def test_a_picture_fits_only_into_a_gallery_of_the_profile(editor: Editor, profile: Profile) -> None:
    foreign = SectionFactory(profile=main_profile(UserFactory()), type="GALLERY", config={})
    text, asset = SectionFactory(profile=profile), AssetFactory(owner=profile.user)
    editor.open(f"{ROOT}/gallery/add/").send(f"{ROOT}/gallery/add/", asset=picture(), section=[text.pk])
    assert editor.errors() == ["Select a valid choice. That choice is not one of the available choices."]
    for section in (foreign, text):
        with pytest.raises(ValidationError, match="Choose a gallery section of this profile"):
            values = {"asset": asset, "section": section}
            content.add(content=registry.GALLERY, profile=profile, values=values, by=profile.user)


def test_a_stored_file_is_removed_before_a_drawing_takes_its_place(editor: Editor, profile: Profile) -> None:
    editor.fill(f"{ROOT}/links/add/", **LINK, icon=picture())
    link = profile.links.get()
    page = f"{ROOT}/links/{link.pk}/"
    editor.fill(page, icon_svg=SVG)
    assert editor.errors() == ["To use this instead of the file, tick “Remove” next to the file."]
    editor.fill(page, icon_svg=SVG, **{"icon-clear": True})
    [shown] = editor.shown("links")
    assert (shown["icon"], shown["iconSvg"]) == (None, SVG)
    assert not Asset.objects.exists(), "nothing shows the file any more"


def test_a_file_is_kept_until_another_one_replaces_it(editor: Editor, profile: Profile) -> None:
    editor.fill(f"{ROOT}/gallery/add/", caption="A", asset=picture())
    [before] = editor.shown("gallery")
    page = f"{ROOT}/gallery/{before['id']}/"
    assert "Current file: " in editor.open(page).text
    editor.fill(page, caption="B")
    [same] = editor.shown("gallery")
    assert (same["caption"], same["asset"]) == ("B", before["asset"])
    editor.fill(page, asset=picture(32, 24))
    [other] = editor.shown("gallery")
    assert (other["asset"]["width"], other["asset"]["height"]) == (32, 24)
    assert Asset.objects.count() == 1


def test_text_of_users_is_escaped(editor: Editor, profile: Profile) -> None:
    row = LinkFactory(profile=profile, title='"><img src=x>')
    for page in ("", f"{row.pk}/", f"{row.pk}/delete/"):
        body = editor.open(f"{ROOT}/links/{page}").response.content.decode()
        assert "<img src=x>" not in body
        assert "&lt;img src=x&gt;" in body
