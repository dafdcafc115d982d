"""Sections: each of the nine types through its own form, and the entries that some of them list."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist, ValidationError

from accounts.models import User
from lookup.editing import section_entries
from lookup.models import Game, Profile, Section
from lookup.shapes.sections import MAX_ITEMS, SectionType
from tests.dashboard.profile.editor import ROOT, Editor, picture
from tests.factories.accounts import UserFactory
from tests.factories.lookup import (
    SVG,
    AnimeFactory,
    GameFactory,
    MediaTitleFactory,
    MusicItemFactory,
    SectionFactory,
    WidgetFactory,
    main_profile,
    shown,
)
from tests.lookup import statements
from tests.pages.markup import problems_of

CATALOGUES: dict[SectionType, tuple[Any, str]] = {  # factory, and the key of the answer
    SectionType.GAMES: (GameFactory, "games"),
    SectionType.ANIME: (AnimeFactory, "anime"),
    SectionType.MEDIA: (MediaTitleFactory, "media"),
    SectionType.MUSIC: (MusicItemFactory, "music"),
}


def entries_url(pk: str, act: str = "") -> str:
    return f"{ROOT}/sections/{pk}/entries/{act}"


def row_of(type_: SectionType, name: str) -> tuple[Any, str]:
    """A row of the catalogue with that name, and its key."""
    factory, _ = CATALOGUES[type_]
    row = factory(**{"name" if type_ == SectionType.GAMES else "title": name})
    return row, f"{row.kind}:{row.music_id}" if type_ == SectionType.MUSIC else str(row.pk)


def names(editor: Editor, type_: SectionType) -> list[str]:
    [section] = editor.shown("sections")
    title = "name" if type_ == SectionType.GAMES else "title"
    return [entry[title] for entry in section[CATALOGUES[type_][1]]]


def test_the_type_is_chosen_first(editor: Editor) -> None:
    editor.open(f"{ROOT}/sections/add/")
    assert problems_of(editor.response) == []
    offered = [str(url).split("/")[-2] for url in editor.page.xpath("//ul[@class='tiles']//a/@href")]
    assert offered == SectionType.values
    assert editor.open(f"{ROOT}/sections/add/NOTHING/").response.status_code == 404


@pytest.mark.parametrize("type_", SectionType)
def test_a_section_of_each_type_is_added(type_: SectionType, editor: Editor) -> None:
    page = f"{ROOT}/sections/add/{type_.value}/"
    editor.open(page)
    assert problems_of(editor.response) == []
    editor.send(page, title="Mine", description="Of all sorts", alignment="right")
    [section] = editor.shown("sections")
    assert (section["type"], section["title"], section["alignment"]) == (type_, "Mine", "right")
    assert problems_of(editor.open(f"{ROOT}/sections/{section['id']}/").response) == []


def test_about_me_holds_text_widgets_and_skills(editor: Editor, profile: Profile) -> None:
    one, two, three = (WidgetFactory(profile=profile, identifier=name).pk for name in ("one", "two", "three"))
    WidgetFactory(profile=main_profile(UserFactory()))
    page = f"{ROOT}/sections/add/ABOUT_ME/"
    editor.open(page)
    assert [value for value, _ in editor.response.context["form"].fields["widgets"].choices] == [one, two, three]
    editor.send(page, body="I compute.", has_skills=True, frontend="HTML, CSS", cloud="Steam", widgets=[three, one])
    [section] = editor.shown("sections")
    assert (section["content"], section["widgetIds"]) == ("I compute.", [three, one])
    assert (section["skills"]["frontend"], section["skills"]["cloud"]) == (["HTML", "CSS"], ["Steam"])
    assert section["skillsEnabled"] is True
    editor.fill(f"{ROOT}/sections/{section['id']}/", has_skills=False, widgets=[one, two, three])
    [section] = editor.shown("sections")
    assert section["widgetIds"] == [three, one, two], "those that were there keep their order"
    assert section["skillsEnabled"] is False


def test_pictures_are_shown_in_the_chosen_gallery(editor: Editor, profile: Profile) -> None:
    section = SectionFactory(profile=profile, type="GALLERY", title="Journeys", config={})
    shown(profile.user)
    for caption in ("A", "B"):
        editor.open(f"{ROOT}/gallery/add/")
        editor.send(f"{ROOT}/gallery/add/", caption=caption, asset=picture(), section=section.pk)
    editor.fill(f"{ROOT}/gallery/add/", caption="C", asset=picture())
    assert [item["caption"] for item in editor.shown("sections")[0]["items"]] == ["A", "B"]
    assert [item["caption"] for item in editor.shown("gallery")] == ["A", "B", "C"]
    titles = [title.text for title in editor.open(f"{ROOT}/gallery/").page.xpath("//h2[not(@class)]")]
    assert "In the section “Journeys”" in titles
    assert "In no section" in titles
    b = next(item["id"] for item in editor.shown("gallery") if item["caption"] == "B")
    editor.press(f"{ROOT}/gallery/{b}/move/", places="up")
    assert [item["caption"] for item in editor.shown("sections")[0]["items"]] == ["B", "A"]
    editor.open(f"{ROOT}/sections/{section.pk}/delete/")
    assert "Its pictures stay in your gallery, in no section." in editor.text
    editor.press(f"{ROOT}/sections/{section.pk}/delete/")
    assert sorted(item["caption"] for item in editor.shown("gallery")) == ["A", "B", "C"]


@pytest.mark.parametrize("type_", [SectionType.GAMES, SectionType.MUSIC])
def test_entries_are_found_added_ordered_and_removed(type_: SectionType, editor: Editor) -> None:
    _, first = row_of(type_, "The first engine")
    _, second = row_of(type_, "A second Engine")
    row_of(type_, "Something else")
    page = f"{ROOT}/sections/add/{type_.value}/"
    editor.open(page).send(page, title="Best")
    [section] = editor.shown("sections")
    assert editor.response.request["PATH_INFO"] == entries_url(section["id"]), "the entries come next"
    assert "Nothing yet." in editor.text
    editor.open(entries_url(section["id"]) + "?q=ENGINE")
    assert problems_of(editor.response) == []
    assert [entry.key for entry in editor.response.context["found"]] == [second, first]
    editor.press(entries_url(section["id"], "add/"), key=first, q="engine")
    assert "In this section" in editor.text
    editor.press(entries_url(section["id"], "add/"), key=second)
    assert names(editor, type_) == ["The first engine", "A second Engine"]
    assert problems_of(editor.response) == []
    editor.press(entries_url(section["id"], "up/"), key=second)
    assert names(editor, type_) == ["A second Engine", "The first engine"]
    editor.press(entries_url(section["id"], "down/"), key=second)
    editor.press(entries_url(section["id"], "remove/"), key=first)
    assert names(editor, type_) == ["A second Engine"]


@pytest.mark.parametrize("type_", CATALOGUES)
def test_an_entry_is_listed_once_and_must_exist(type_: SectionType, user: User, profile: Profile) -> None:
    _, key = row_of(type_, "Engine")
    section = SectionFactory(profile=profile, type=type_, config=_empty(type_))
    add = functools.partial(section_entries.add_row, profile=profile, pk=section.pk, by=user)
    add(key=key)
    for again, sentence in (
        (key, "It is in this section already."),
        ("track:none" if type_ == SectionType.MUSIC else "999999", "The catalog has no such entry."),
    ):
        with pytest.raises(ValidationError, match=sentence):
            add(key=again)
    section.refresh_from_db()
    assert [entry.key for entry in section_entries.entries_of(section)] == [key]


def test_a_refused_entry_a_short_search_and_one_without_results_are_explained(editor: Editor, profile: Profile) -> None:
    section = SectionFactory(profile=profile, type="GAMES", config={"gameIds": []})
    assert "at least 2 characters" in editor.open(entries_url(section.pk) + "?q=a").text
    assert "No entry in the catalog matches “abc”" in editor.open(entries_url(section.pk) + "?q=abc").text
    editor.open(entries_url(section.pk)).press(entries_url(section.pk, "add/"), key="999999")
    assert "The catalog has no such entry." in editor.text
    assert editor.press(entries_url(section.pk, "remove/"), key="nothing").response.status_code == 404


def test_a_malformed_key_is_not_found(profile: Profile) -> None:
    games = SectionFactory(profile=profile, type="GAMES", config={"gameIds": []})
    music = SectionFactory(profile=profile, type="MUSIC", config={"music": []})
    for key in ("-1", "x", "", "9" * 17, "٣"):
        for section, given in ((games, key), (music, f"track:\0{key}"), (music, f"film:{key}")):
            with pytest.raises(ObjectDoesNotExist):
                section_entries.add_row(profile=profile, pk=section.pk, key=given, by=None)


def test_a_section_lists_100_entries(profile: Profile) -> None:
    Game.objects.bulk_create(Game(id=number, name="A game") for number in range(1, MAX_ITEMS + 2))
    config = {"gameIds": list(range(1, MAX_ITEMS))}
    section = SectionFactory(profile=profile, type="GAMES", config=config)
    section_entries.add_row(profile=profile, pk=section.pk, key=str(MAX_ITEMS), by=None)
    with pytest.raises(ValidationError, match="Has 101 entries; at most 100"):
        section_entries.add_row(profile=profile, pk=section.pk, key=str(MAX_ITEMS + 1), by=None)


def test_custom_skills(editor: Editor, profile: Profile) -> None:
    section = SectionFactory(profile=profile, type="ABOUT_ME", config={})
    page = entries_url(section.pk)
    editor.fill(page, label="Computing", icon_svg=SVG)
    editor.fill(page, label="Poetry", icon_name="pen")
    [shown_section] = editor.shown("sections")
    assert shown_section["skills"]["custom"] == [
        {"label": "Computing", "iconName": "", "iconSvg": SVG},
        {"label": "Poetry", "iconName": "pen", "iconSvg": ""},
    ]
    assert problems_of(editor.response) == []
    keys = editor.page.xpath("//input[@name='key']/@value")
    editor.press(entries_url(section.pk, "up/"), key=keys[1]).press(entries_url(section.pk, "remove/"), key=keys[0])
    assert [skill["label"] for skill in editor.shown("sections")[0]["skills"]["custom"]] == ["Poetry"]
    editor.fill(f"{ROOT}/sections/{section.pk}/", body="Hello")
    assert [skill["label"] for skill in editor.shown("sections")[0]["skills"]["custom"]] == ["Poetry"], "it stays"


def test_a_skill_that_is_refused(editor: Editor, profile: Profile) -> None:
    section = SectionFactory(profile=profile, type="ABOUT_ME", config={})
    editor.fill(entries_url(section.pk), label="There")
    for typed, sentence in (
        ({"label": "a" * 65}, "Ensure this value has at most 64 characters"),
        ({"label": "A", "icon_svg": "<svg onload='x'/>"}, "The attribute onload is not allowed."),
        ({"label": "There"}, "It is in this section already."),
    ):
        editor.fill(entries_url(section.pk), **typed)
        assert sentence in editor.text
    assert len(Section.objects.get().config["skills"]["custom"]) == 1


def test_entries_of_other_users_and_of_other_types_are_404(editor: Editor, profile: Profile) -> None:
    other = SectionFactory(profile=main_profile(UserFactory()), type="GAMES", config={"gameIds": []})
    text = SectionFactory(profile=profile)
    editor.client.handler.enforce_csrf_checks = False
    key = str(GameFactory().pk)
    for pk in (other.pk, text.pk):
        assert editor.client.get(entries_url(pk)).status_code == 404
        assert editor.client.post(entries_url(pk, "add/"), {"key": key}).status_code == 404
    other.refresh_from_db()
    assert other.config == {"gameIds": []}


@pytest.mark.embedded
def test_entries_cost_the_same_for_one_and_for_ten(editor: Editor, profile: Profile) -> None:
    """Session, user, profile; the section; the frame's profiles; the rows that it lists; those that were found."""
    ids = [GameFactory(name="Engine").pk for _ in range(10)]
    one = SectionFactory(profile=profile, type="GAMES", config={"gameIds": ids[:1]})
    ten = SectionFactory(profile=profile, type="GAMES", config={"gameIds": ids})
    editor.open(entries_url(one.pk) + "?q=engine")
    asked = statements.names(lambda: editor.open(entries_url(one.pk) + "?q=engine"))
    assert statements.names(lambda: editor.open(entries_url(ten.pk) + "?q=engine")) == asked
    assert len(editor.response.context["found"]) == 10


def _empty(type_: SectionType) -> dict[str, Any]:
    keys = {SectionType.GAMES: "gameIds", SectionType.ANIME: "animeIds", SectionType.MEDIA: "mediaIds"}
    return {keys.get(type_, "music"): []}
