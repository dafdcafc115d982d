"""What a browser can send to the forms of the app: whatever it is, a form error and never a server error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django import forms
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Model
from django.test import Client

from lookup.models import (
    Asset,
    BadgeTier,
    CustomBadge,
    Game,
    Link,
    Profile,
    ProfileBadge,
    Project,
    Section,
    Widget,
)
from lookup.sections import SectionType
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.admin_forms import errors, page, post, save, sent, superuser
from tests.lookup.admin_rows import MAKE
from tests.lookup.filled import row
from tests.lookup.test_admin_pages import READ_ONLY, model_of

pytestmark = pytest.mark.django_db

WRITTEN = sorted(name for name in MAKE if model_of(name) not in READ_ONLY and name != "commentlike")


@pytest.fixture
def profile(db: None) -> Profile:
    return make.main_profile(UserFactory(username="Ada"))


def _fields_of(browser: Client, url: str) -> dict[str, forms.Field]:
    fields: dict[str, forms.Field] = browser.get(url).context["adminform"].form.fields
    return fields


def _is_typed(field: forms.Field) -> bool:
    """Whether people write text or numbers there."""
    return not isinstance(field, forms.BooleanField) and not isinstance(field.widget, forms.Select)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_nul_in_any_field_is_a_form_error(name: str) -> None:
    browser, url = superuser(), f"{page(model_of(name))}{MAKE[name]().pk}/change/"
    fields = [field for field, kind in _fields_of(browser, url).items() if not isinstance(kind, forms.BooleanField)]
    for field in fields:
        found = errors(browser, url, **{field: "a\x00b", f"{field}_0": "a\x00b"})
        assert set(found) - {"__all__"} == {field}


@pytest.mark.parametrize("name", sorted({*WRITTEN, "commentlike"} - {"profile"}))
def test_a_nul_in_any_field_of_a_new_row_is_a_form_error(name: str) -> None:
    browser, url = superuser(), f"{page(model_of(name))}add/"
    for field, kind in _fields_of(browser, url).items():
        if not isinstance(kind, forms.BooleanField):
            assert field in errors(browser, url, **{field: "a\x00b", f"{field}_0": "a\x00b"})


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("value", ["9" * 30, "-1e400", "NaN", "\U0001f331" * 3000, "[" * 5000])
def test_nothing_that_is_typed_into_a_field_breaks_the_page(name: str, value: str) -> None:
    browser, url = superuser(), f"{page(model_of(name))}{MAKE[name]().pk}/change/"
    fields = [field for field, kind in _fields_of(browser, url).items() if _is_typed(kind)]
    for field in fields:
        assert post(browser, url, **{field: value}).status_code in {200, 302}


@pytest.mark.parametrize("name", WRITTEN)
def test_choices_that_are_not_offered_are_refused(name: str) -> None:
    browser, url = superuser(), f"{page(model_of(name))}{MAKE[name]().pk}/change/"
    chosen = [field for field, kind in _fields_of(browser, url).items() if isinstance(kind.widget, forms.Select)]
    for field in chosen:
        for value in ("x", "9" * 30, "f" * 32):
            assert set(errors(browser, url, **{field: value})) - {"__all__"} == {field}


@pytest.mark.parametrize("name", WRITTEN)
def test_rows_that_there_are_not_have_no_page(name: str) -> None:
    browser, url = superuser(), page(model_of(name))
    for key in ("x", "9" * 30, "_00", "-1", "\U0001f331"):
        assert browser.get(f"{url}{key}/change/").status_code == 302
        assert browser.post(f"{url}{key}/delete/", {"post": "yes"}).status_code == (403 if name == "profile" else 302)
    for key in ("9" * 30, "f" * 32):
        fields = {"action": "delete_selected", "_selected_action": key, "post": "yes"}
        assert browser.post(url, fields).status_code == (200 if name == "profile" else 302)  # there is no such action


# JSON that Python reads and a database or another reader does not.
JSON = ['["\\u0000"]', '{"\\u0000": 1}', '["\\ud800"]', "[NaN]", "[1e999]", "NaN", '"\\ud800"', "{", "[1" + "0" * 5000]


@pytest.mark.parametrize("text", JSON)
@pytest.mark.parametrize(
    ("model", "column"),
    [(Profile, "settings"), (Section, "config"), (Project, "tags"), (ProfileBadge, "unlocked_tiers")],
    ids=["settings", "config", "tags", "tiers"],
)
def test_json_that_nobody_can_store_is_a_form_error(
    profile: Profile, model: type[Model], column: str, text: str
) -> None:
    pk = profile.pk if model is Profile else MAKE[model._meta.model_name or ""]().pk
    assert set(errors(superuser(), f"{page(model)}{pk}/change/", **{column: text})) == {column}


SVG = make.SVG
UNSAFE = [
    SVG.replace("<path", "<script>alert(1)</script><path"),
    SVG.replace("<path", '<path onload="alert(1)"'),
    SVG.replace("<path", '<image href="https://evil.example/x.png"/><path'),
    SVG.replace("<path", '<a href="javascript:alert(1)"/><path'),
    f'<!DOCTYPE svg [<!ENTITY x "y">]>{SVG}',
    "<svg",
    "<b/>",
]


@pytest.mark.parametrize("svg", UNSAFE)
@pytest.mark.parametrize(
    ("model", "needed"), [(CustomBadge, {}), (Link, {"url": "https://a.example/"})], ids=["badge", "link"]
)
def test_a_drawing_that_could_do_more_than_be_drawn_is_refused(
    profile: Profile, model: type[Model], needed: dict[str, str], svg: str
) -> None:
    url = f"{page(model)}add/"
    assert set(errors(superuser(), url, profile=profile.pk, icon_svg=svg, **needed)) == {"icon_svg"}
    save(superuser(), url, profile=profile.pk, icon_svg=SVG, **needed)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " \tjavascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example/",
        "/path",
        "mailto:",
        "mailto:nobody",
        "https://a b/",
        "https://",
        "ftp://a.example/",
        "",
    ],
)
def test_a_link_leads_to_the_web_or_to_an_address_alone(profile: Profile, url: str) -> None:
    browser, form = superuser(), f"{page(Link)}add/"
    assert errors(browser, form, profile=profile.pk, url=url) != {}
    for good in ("https://a.example/x?y=z#w", "http://a.example", "mailto:ada@example.org", "MAILTO:ada@example.org"):
        save(browser, form, profile=profile.pk, url=good)


# Of each type: a configuration, what is stored of it, and one that is refused with its problems.
CONFIGS: dict[str, tuple[str, dict[str, Any], str, list[str]]] = {
    "CUSTOM_TEXT": ('{"content": "x"}', {"content": "x"}, '{"content": null}', ["content: Must be a string."]),
    "PROJECTS": (
        f'{{"projectIds": ["{row(1)}"]}}',
        {"projectIds": [row(1)]},
        '{"projectIds": ["1"]}',
        ["projectIds: Entry 1: Must be an id of 32 lower-case hexadecimal characters."],
    ),
    "GALLERY": ("{}", {}, '{"a": 1}', ["a: Unknown name."]),
    "AUDIO_PLAYER": ("", {}, "[]", ["config: Must be an object."]),
    "GAMES": ('{"gameIds": [2, 1]}', {"gameIds": [2, 1]}, '{"gameIds": [1, 1]}', ["gameIds: Names an id twice."]),
    "ANIME": (
        "{}",
        {"animeIds": []},
        '{"animeIds": [true]}',
        ["animeIds: Entry 1: Must be a positive integer."],
    ),
    "MEDIA": ('{"mediaIds": [5]}', {"mediaIds": [5]}, '{"mediaIds": 5}', ["mediaIds: Must be a list of ids."]),
    "MUSIC": (
        '{"music": [{"kind": "track", "musicId": "a"}]}',
        {"music": [{"kind": "track", "musicId": "a"}]},
        '{"music": [{"kind": "song"}]}',
        ["music.0.kind: Must be one of: track, album, artist.", "music.0.musicId: Is missing."],
    ),
}


def test_every_type_of_section_is_tried() -> None:
    assert {*CONFIGS, SectionType.ABOUT_ME} == set(SectionType.values)


@pytest.mark.parametrize("type_", CONFIGS)
def test_the_configuration_of_a_section_is_what_its_type_says(profile: Profile, type_: str) -> None:
    browser, url = superuser(), f"{page(Section)}add/"
    given, stored, wrong, sentences = CONFIGS[type_]
    assert errors(browser, url, profile=profile.pk, type=type_, config=wrong) == {"config": sentences}
    save(browser, url, profile=profile.pk, type=type_, config=given)
    assert Section.objects.get().config == stored


def test_the_configuration_about_oneself_is_filled_and_checked_in_depth(profile: Profile) -> None:
    browser, url = superuser(), f"{page(Section)}add/"
    wrong = '{"skills": {"custom": [{"label": "", "iconSvg": "<b/>"}]}, "skillsAlignment": "top"}'
    assert errors(browser, url, profile=profile.pk, type="ABOUT_ME", config=wrong) == {
        "config": [
            "skills.custom.0.label: Must not be empty.",
            "skills.custom.0.iconSvg: The outermost element must be svg.",
            "skillsAlignment: Must be one of: left, center, right.",
        ]
    }
    save(browser, url, profile=profile.pk, type="ABOUT_ME", config='{"content": "Hello"}')
    stored = Section.objects.get().config
    assert (stored["content"], stored["skillsEnabled"], stored["skills"]["custom"]) == ("Hello", True, [])


def test_a_section_that_becomes_another_type_gets_the_configuration_of_that_type(profile: Profile) -> None:
    """Nobody wrote in it: what both types have in common is nothing."""
    section = make.SectionFactory(profile=profile, type="GALLERY", config={})
    save(superuser(), f"{page(Section)}{section.pk}/change/", type="GAMES")
    section.refresh_from_db()
    assert (section.type, section.config) == ("GAMES", {"gameIds": []})


def test_tiers_of_a_badge_are_checked_on_its_page() -> None:
    tier = make.BadgeTierFactory()
    url = f"/admin/lookup/badge/{tier.badge_id}/change/"
    browser = superuser()
    for field, value in (
        ("threshold", "NaN"),
        ("threshold", "1e999"),
        ("tier", "-1"),
        ("image", "../x"),
        ("color", "red"),
    ):
        answer = post(browser, url, **{f"tiers-0-{field}": value})
        assert answer.status_code == 200
        formset = answer.context["inline_admin_formsets"][0].formset
        assert list(formset.forms[0].errors) == [field]
    fields = {"tiers-TOTAL_FORMS": "2", "tiers-1-tier": tier.tier, "tiers-1-title": "x", "tiers-1-image": "x.svg"}
    assert post(browser, url, **fields, **{"tiers-1-threshold": "1", "tiers-1-badge": tier.badge_id}).status_code == 200
    assert BadgeTier.objects.get().image == tier.image


def test_what_a_catalogue_names_is_there_once() -> None:
    game = make.GameFactory()
    url = f"{page(Game)}add/"
    assert errors(superuser(), url, id=game.pk, name="x") == {"id": ["Game with this Catalogue id already exists."]}
    item = make.MusicItemFactory()
    twice = {"kind": item.kind, "music_id": item.music_id, "title": "x"}
    assert set(errors(superuser(), "/admin/lookup/musicitem/add/", **twice)) == {"__all__"}


@pytest.mark.parametrize("path", ["/x.png", "../x.png", "a/../b", "https://evil.example/x", "a b", "a//b", "x?y", ""])
def test_a_file_lies_under_the_cdn(profile: Profile, path: str) -> None:
    url = f"{page(Asset)}add/"
    assert set(errors(superuser(), url, owner=profile.user_id, path=path, mime="image/png")) == {"path"}


@pytest.mark.parametrize("name", ["profile", "alias", "asset", "comment", "feedbackvote"])
def test_what_the_page_shows_read_only_cannot_be_posted(name: str) -> None:
    """Nor anything else that has no field."""
    made = MAKE[name]()
    before = type(made)._default_manager.filter(pk=made.pk).values().get()
    browser, url, other = superuser(), f"{page(model_of(name))}{made.pk}/change/", UserFactory()
    posed = {"user": other.pk, "owner": other.pk, "author": other.pk, "voter": other.pk, "parent": "", "is_main": "on"}
    counters = {"like_count": "99", "reply_count": "99", "imported_like_count": "99", "name": made.pk, "id": "f" * 32}
    taken = {"created_at_0": "2020-01-01", "created_at_1": "00:00"}
    editable = set(_fields_of(browser, url))
    fields = {key: value for key, value in {**posed, **counters, **taken}.items() if key not in editable}
    assert browser.post(url, {**sent(browser.get(url)), **fields}).status_code == 302
    after = type(made)._default_manager.filter(pk=made.pk).values().get()
    assert {key for key in before if before[key] != after[key]} <= {"updated_at"}


def test_autocompletion_is_for_staff_who_may_see(profile: Profile) -> None:
    browser = superuser()
    field = _fields_of(browser, f"{page(Widget)}add/")["profile"]
    assert isinstance(field.widget.widget, AutocompleteSelect)
    query = {"app_label": "lookup", "model_name": "widget", "field_name": "profile"}
    answers: list[Callable[[], Any]] = [
        lambda: browser.get("/admin/autocomplete/", {**query, "term": "x" * 5000}),
        lambda: browser.get("/admin/autocomplete/", {**query, "term": "9" * 30}),
    ]
    assert [answer().status_code for answer in answers] == [200, 200]
    assert Client().get("/admin/autocomplete/", query).status_code == 302
