"""The forms of rows: links, badges, files; what each refuses, and how it explains it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist, ValidationError
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
    ProfileBadge,
    Project,
    Section,
)
from lookup.shapes.addresses import with_scheme
from tests.dashboard.profile.editor import ROOT, Editor, picture, song
from tests.factories.accounts import UserFactory
from tests.factories.lookup import (
    SVG,
    AssetFactory,
    BadgeFactory,
    BadgeTierFactory,
    CustomBadgeFactory,
    LinkFactory,
    ProfileBadgeFactory,
    SectionFactory,
    main_profile,
    shown,
)
from tests.pages.markup import problems_of
from tests.support import patterns

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


LINKS = f"{ROOT}/links/"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lamps.example", "https://lamps.example"),
        ("lamps.example/a?b=c#d", "https://lamps.example/a?b=c#d"),
        ("lamps.example:8080/a", "https://lamps.example:8080/a"),
        ("lämpchen.example", "https://lämpchen.example"),
        ("ada@lamps.example", "mailto:ada@lamps.example"),
        ("http://lamps.example/", "http://lamps.example/"),
        ("mailto:ada@lamps.example", "mailto:ada@lamps.example"),
        ("javascript:alert(1).x", "javascript:alert(1).x"),
        ("ada#1843", "ada#1843"),
        ("two words.example", "two words.example"),
        ("lamps", "lamps"),
        ("lamps.", "lamps."),
        ("ada@lamps", "ada@lamps"),
        ("ada@lamps@lamps.example", "ada@lamps@lamps.example"),
        ("", ""),
    ],
)
def test_an_address_without_a_scheme_gets_one(typed: str, meant: str) -> None:
    assert with_scheme(typed) == meant


@pytest.mark.parametrize("typed", ["a" + ".a" * 900 + "@", "a@a" + ".a" * 900 + " ", "a." * 1000 + ":"])
@pytest.mark.parametrize("kind", ["links", "audios", "projects"])
def test_a_long_address_that_is_none_is_refused_at_once(editor: Editor, kind: str, typed: str) -> None:
    column = "external_url" if kind == "audios" else "url"
    with patterns.bounded(5):
        editor.fill(f"{ROOT}/{kind}/add/", title="Lamps", **{column: typed})
    assert editor.shown(kind) == []


def test_a_link_that_is_typed_without_a_scheme_is_saved_with_one(editor: Editor) -> None:
    editor.fill(f"{LINKS}add/", url="lamps.example")
    editor.fill(f"{LINKS}add/", url="lamps.example", is_text="True")
    editor.fill(f"{LINKS}add/", url="two words.example")
    assert "Use a web address such as" in editor.text
    assert [(link["url"], link["isText"]) for link in editor.shown("links")] == [
        ("https://lamps.example", False),
        ("lamps.example", True),
    ]
    editor.fill(f"{ROOT}/projects/add/", title="Lamps", url="lamps.example")
    assert editor.shown("projects")[0]["url"] == "https://lamps.example"


def test_a_platform_that_is_not_suggested_stays(editor: Editor, profile: Profile) -> None:
    row = LinkFactory.create(profile=profile, platform_id="Ünïque", platform_type="odd kind", is_text=True)
    editor.fill(f"{LINKS}{row.pk}/", title="Renamed")
    row.refresh_from_db()
    assert (row.title, row.platform_id, row.platform_type, row.is_text) == ("Renamed", "Ünïque", "odd kind", True)
    page = editor.open(f"{LINKS}{row.pk}/").page
    for name in page.xpath("//input[@list]/@list"):
        assert page.xpath(f"//datalist[@id='{name}']/option/@value")


@pytest.fixture
def badge(profile: Profile) -> ProfileBadge:
    """With three tiers, two of them unlocked."""
    catalogue = BadgeFactory(id="views", name="Views")
    for tier in (1, 2, 3):
        BadgeTierFactory(badge=catalogue, tier=tier, title=f"Seen {tier}")
    row: ProfileBadge = ProfileBadgeFactory(profile=profile, badge=catalogue, order=0, unlocked_tiers=[1, 2])
    shown(profile.user)
    return row


def test_a_tier_is_chosen_among_the_unlocked_ones(editor: Editor, badge: ProfileBadge) -> None:
    page = f"{ROOT}/badges/{badge.pk}/"
    editor.open(page)
    assert problems_of(editor.response) == []
    offered = editor.page.xpath("//select[@name='selected_tier']/option")
    assert [option.text for option in offered] == ["The highest", "1: Seen 1", "2: Seen 2"]
    editor.send(page, selected_tier="1", color="#abcdef", recolor=True)
    [entry] = editor.shown("badges")
    assert (entry["selectedTier"], entry["color"], entry["recolor"]) == (1, "#abcdef", True)
    editor.fill(page, selected_tier="")
    assert editor.shown("badges")[0]["selectedTier"] is None
    without_tiers = ProfileBadgeFactory(profile=badge.profile, badge=BadgeFactory(id="staff"), order=1)
    editor.fill(f"{ROOT}/badges/{without_tiers.pk}/", color="#123456")
    assert editor.shown("badges")[1]["color"] == "#123456"


def test_a_locked_tier_is_refused_by_the_form_and_by_the_operation(editor: Editor, badge: ProfileBadge) -> None:
    page = f"{ROOT}/badges/{badge.pk}/"
    editor.open(page).send(page, selected_tier=["3"])
    assert editor.errors() == ["Select a valid choice. 3 is not one of the available choices."]
    with pytest.raises(ValidationError, match="Choose one of the unlocked tiers"):
        content.change(
            content=registry.BADGES, profile=badge.profile, pk=badge.pk, values={"selected_tier": 3}, by=None
        )
    assert editor.shown("badges")[0]["selectedTier"] is None


def test_both_kinds_share_one_order(editor: Editor, profile: Profile, badge: ProfileBadge) -> None:
    own = CustomBadgeFactory(profile=profile, order=1)
    editor.open(f"{ROOT}/badges/").press(f"{ROOT}/badges/{own.pk}/move/", places="up")
    assert [entry["id"] for entry in editor.shown("badges")] == [own.pk, badge.pk]
    editor.press(f"{ROOT}/badges/order/", pk=[badge.pk, own.pk])
    assert [entry["id"] for entry in editor.shown("badges")] == [badge.pk, own.pk]


def test_a_given_badge_is_switched_off_but_not_deleted(editor: Editor, badge: ProfileBadge) -> None:
    editor.open(f"{ROOT}/badges/")
    assert f"{badge.pk}/delete/" not in editor.response.content.decode()
    editor.press(f"{ROOT}/badges/{badge.pk}/switch/", is_on="0")
    assert editor.shown("badges")[0]["enabled"] is False
    assert editor.press(f"{ROOT}/badges/{badge.pk}/delete/").response.status_code == 404
    with pytest.raises(ObjectDoesNotExist):
        content.delete(content=registry.BADGES, profile=badge.profile, pk=badge.pk, by=None)
    assert [entry["id"] for entry in editor.shown("badges")] == [badge.pk]
