"""Every list: what is added, changed, put in order, switched off, deleted or brought back is so in the lookup."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.template.loader import select_template
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent, User
from dashboard import versions
from dashboard.profile.kinds import KINDS, Kind, menu_groups
from lookup.documents import registry
from lookup.editing import aliases, uploads
from lookup.models import Asset, GalleryItem, Profile
from tests.dashboard.profile.editor import ROOT, Editor, picture, said, song
from tests.factories import ModelFactory
from tests.factories.accounts import UserFactory
from tests.factories.lookup import (
    SVG,
    AssetFactory,
    AudioFactory,
    BackgroundFactory,
    CustomBadgeFactory,
    GalleryItemFactory,
    LinkFactory,
    ProjectFactory,
    SectionFactory,
    WidgetFactory,
    main_profile,
    shown,
)
from tests.lookup import answers
from tests.pages.markup import problems_of


@dataclass(frozen=True)
class Case:
    """`typed` goes into the form of a new row, and the lookup shows `expected`; then `changed` makes it `then`."""

    name: str
    factory: type[ModelFactory[Any]]
    typed: Callable[[], dict[str, Any]]
    expected: dict[str, Any]
    changed: dict[str, Any]
    then: dict[str, Any]
    add: str = "add"


CASES = (
    Case(
        "links",
        LinkFactory,
        lambda: {"title": "My site", "url": "https://ada.example/", "platform_id": "site", "icon_svg": SVG},
        {"title": "My site", "url": "https://ada.example/", "platformId": "site", "iconSvg": SVG, "order": 0},
        {"title": "Mail", "url": "mailto:ada@example.org"},
        {"title": "Mail", "url": "mailto:ada@example.org"},
    ),
    Case(
        "badges",
        CustomBadgeFactory,
        lambda: {"name": "Countess", "image": picture(), "color": "#1b5e4b", "recolor": True},
        {"name": "Countess", "type": "CUSTOM", "color": "#1b5e4b", "recolor": True, "enabled": True},
        {"name": "Enchantress"},
        {"name": "Enchantress", "color": "#1b5e4b"},
    ),
    Case(
        "widgets",
        WidgetFactory,
        lambda: {"platform": "weather", "type": "today", "identifier": "London"},
        {"platform": "weather", "type": "today", "identifier": "London", "order": 0},
        {"identifier": "Paris"},
        {"platform": "weather", "identifier": "Paris"},
    ),
    Case(
        "audios",
        AudioFactory,
        lambda: {"title": "A song", "artist": "Ada", "audio": song(), "cover": picture()},
        {"title": "A song", "artist": "Ada", "externalUrl": ""},
        {"title": "Another", "external_url": "https://songs.example/1"},
        {"title": "Another", "externalUrl": "https://songs.example/1"},
    ),
    Case(
        "backgrounds",
        BackgroundFactory,
        lambda: {"title": "The sea", "asset": picture()},
        {"title": "The sea", "order": 0},
        {"title": "The sky"},
        {"title": "The sky"},
    ),
    Case(
        "projects",
        ProjectFactory,
        lambda: {"title": "Engine", "description": "It computes.", "tags": " brass, steam ,brass"},
        {"title": "Engine", "description": "It computes.", "tags": ["brass", "steam"], "icon": None},
        {"url": "https://engine.example/", "tags": ""},
        {"title": "Engine", "url": "https://engine.example/", "tags": []},
    ),
    Case(
        "gallery",
        GalleryItemFactory,
        lambda: {"asset": picture(), "caption": "The desk", "width": "full"},
        {"caption": "The desk", "width": "full"},
        {"caption": "The chair", "width": "quad"},
        {"caption": "The chair", "width": "quad"},
    ),
    Case(
        "sections",
        SectionFactory,
        lambda: {"title": "Notes", "description": "On engines", "alignment": "center", "body": "Hello"},
        {"type": "CUSTOM_TEXT", "title": "Notes", "alignment": "center", "content": "Hello", "enabled": True},
        {"body": "Hello again"},
        {"content": "Hello again", "title": "Notes"},
        add="add/CUSTOM_TEXT",
    ),
)
every_list = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
# One with a switch, one whose rows are of two models, one in groups.
some_lists = pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in ("links", "badges", "gallery")], ids=lambda case: case.name
)


def url(case: Case, page: str = "") -> str:
    return f"{ROOT}/{case.name}/{page}"


def three(case: Case, profile: Profile) -> list[str]:
    ids = [case.factory(profile=profile, order=order).pk for order in range(3)]
    shown(profile.user)
    return ids


def ids(editor: Editor, case: Case) -> list[str]:
    """As the lookup shows them."""
    return [entry["id"] for entry in editor.shown(case.name)]


def picked(entry: dict[str, Any], of: dict[str, Any]) -> dict[str, Any]:
    return {name: entry.get(name) for name in of}


def test_a_list_without_template_and_group_shows_names_under_content(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(dataclasses.replace(registry.WIDGETS, name="awards"))
    monkeypatch.setitem(KINDS, "awards", kind)
    assert menu_groups()["Content"] == ["sections", "projects", "gallery", "widgets", "awards"]
    row = select_template(kind.templates).render({"shown": {"name": "Best <engine>", "is_on": False}})
    assert "Best &lt;engine&gt;" in row
    assert "Off" in row


@every_list
def test_what_is_added_and_changed_shows_in_the_lookup(case: Case, editor: Editor) -> None:
    editor.fill(url(case, f"{case.add}/"), **case.typed())
    [entry] = editor.shown(case.name)
    assert picked(entry, case.expected) == case.expected
    editor.fill(url(case, f"{entry['id']}/"), **case.changed)
    assert editor.response.request["PATH_INFO"] == url(case)
    [entry] = editor.shown(case.name)
    assert picked(entry, case.then) == case.then


@some_lists
def test_rows_are_moved_up_and_down_and_put_in_order(case: Case, editor: Editor, profile: Profile) -> None:
    first, second, third = three(case, profile)
    editor.open(url(case)).press(url(case, f"{third}/move/"), places="up")
    assert ids(editor, case) == [first, third, second]
    editor.press(url(case, f"{first}/move/"), places="down")
    assert ids(editor, case) == [third, first, second]
    editor.press(url(case, f"{third}/move/"), places="up")
    assert ids(editor, case) == [third, first, second], "the first one stays where it is"
    editor.press(url(case, "order/"), pk=[second, third, first])
    assert editor.response.status_code == 204
    assert ids(editor, case) == [second, third, first]
    editor.open(url(case)).press(url(case, "order/"), pk=[first, first])
    assert (editor.response.status_code, editor.response.content) == (
        409,
        b"The list has changed meanwhile. Open the page again.",
    )
    assert ids(editor, case) == [second, third, first]


@every_list
def test_rows_with_a_switch_are_hidden_and_shown(case: Case, editor: Editor, profile: Profile) -> None:
    row = case.factory(profile=profile)
    shown(profile.user)
    editor.open(url(case)).press(url(case, f"{row.pk}/switch/"), is_on="0")
    if not registry.LISTS[case.name].switch:
        assert editor.response.status_code == 404
        return
    assert "is off." in editor.text
    assert [entry for entry in editor.shown(case.name) if entry.get("enabled", True)] == []
    editor.press(url(case, f"{row.pk}/switch/"), is_on="1")
    assert [entry["id"] for entry in editor.shown(case.name) if entry.get("enabled", True)] == [row.pk]


@some_lists
def test_deleting_asks_first(case: Case, editor: Editor, profile: Profile) -> None:
    first, second, third = three(case, profile)
    editor.open(url(case, f"{second}/delete/"))
    assert problems_of(editor.response) == []
    for page in ("move/?places=down", "switch/?is_on=0"):
        assert editor.client.get(url(case, f"{first}/{page}")).status_code == 405
    assert ids(editor, case) == [first, second, third], "a GET changes nothing"
    editor.press(url(case, f"{second}/delete/"))
    assert ids(editor, case) == [first, third]
    assert f"row-{second}" not in editor.response.content.decode()
    event = AuditEvent.objects.get(verb="profile:content_changed")
    assert (event.actor_name, event.data["act"], event.data["id"]) == ("Ada", "deleted", second)


@every_list
def test_rows_of_another_user_are_404(case: Case, editor: Editor) -> None:
    other = main_profile(UserFactory(username="Other"))
    row = case.factory(profile=other)
    editor.client.handler.enforce_csrf_checks = False
    for page, values in (("", case.changed), ("move/", {"places": "up"}), ("switch/", {"is_on": "0"}), ("delete/", {})):
        assert editor.client.post(url(case, f"{row.pk}/{page}"), values).status_code == 404, page
    for page in ("", "delete/"):
        assert editor.client.get(url(case, f"{row.pk}/{page}")).status_code == 404, page
    assert editor.client.post(url(case, "order/"), {"pk": [row.pk]}).status_code == 409
    assert type(row).objects.filter(pk=row.pk, profile=other).exists()
    assert editor.client.get(f"{ROOT}/{other.pk}/{case.name}/").status_code == 404


@pytest.mark.embedded
@every_list
def test_the_pages_are_well_made_and_ten_rows_cost_as_much_as_one(
    case: Case, editor: Editor, profile: Profile, django_assert_num_queries: Any
) -> None:
    """Session, user and the profile; its rows; the frame's list of profiles."""
    assert problems_of(editor.open(url(case)).response) == []
    assert f"Add {KINDS[case.name].verbose_name}" in editor.text
    first = case.factory(profile=profile)
    for page in (f"{case.add}/", f"{first.pk}/", ""):
        with CaptureQueriesContext(connection) as for_one:
            response = editor.open(url(case, page)).response
        assert problems_of(response) == [], page
    for order in range(1, 10):
        case.factory(profile=profile, order=order)
    with django_assert_num_queries(len(for_one)):
        editor.open(url(case))
    assert len(editor.page.xpath("//li[@data-pk]")) == 10


@some_lists
def test_pictures_may_come_from_another_host(case: Case, editor: Editor, profile: Profile, settings: Settings) -> None:
    settings.UPLOAD_CDN_URL = "https://cdn.example/up"
    row = case.factory(profile=profile)
    for page in ("", f"{row.pk}/"):
        response = editor.open(url(case, page)).response
        policy = dict(rule.split(" ", 1) for rule in response.headers["Content-Security-Policy"].split("; "))
        assert (policy["img-src"], policy["script-src"]) == ("'self' data: https://cdn.example", "'self'")
        for source in editor.page.xpath("//main//img/@src"):
            assert source.startswith(("https://cdn.example/up/", "data:image/svg+xml;base64,", "/")), source


@some_lists
def test_a_stale_form_saves_nothing(case: Case, editor: Editor, profile: Profile) -> None:
    first, *_ = three(case, profile)
    stale = editor.open(url(case, f"{first}/")).response
    editor.fill(url(case, f"{first}/"), **case.changed)
    saved = editor.shown(case.name)[0]
    editor.response = stale
    field, typed = next((name, value) for name, value in case.changed.items() if isinstance(value, str))
    editor.send(url(case, f"{first}/"), **{field: typed[:-1] or "other"})
    assert versions.CHANGED in editor.text
    assert editor.shown(case.name)[0] == saved


def test_each_list_has_its_limit() -> None:
    limits = {"links": 50, "badges": 20, "widgets": 30, "audios": 20, "backgrounds": 20, "projects": 50}
    assert {one.name: one.limit for one in registry.LISTS.values()} == limits | {"gallery": 100, "sections": 30}


def test_a_full_list_takes_no_more(editor: Editor, profile: Profile) -> None:
    case = next(case for case in CASES if case.name == "backgrounds")
    for order in range(19):
        case.factory(profile=profile, order=order)
    editor.fill(url(case, "add/"), **case.typed())
    assert len(editor.shown(case.name)) == 20
    assert editor.open(url(case)).page.xpath(f"//a[@href='{url(case, 'add/')}']") == []
    kept = Asset.objects.count()
    editor.fill(url(case, "add/"), **case.typed())
    assert "A profile has at most 20 backgrounds: delete one to add another." in editor.text
    assert len(editor.shown(case.name)) == 20
    assert Asset.objects.count() == kept, "the file of the refused row is not kept"


def test_a_malformed_id_is_404(editor: Editor) -> None:
    for pk in ("a%00b", "x" * 32, "A" * 32, "0" * 31):
        assert editor.open(f"{ROOT}/links/{pk}/").response.status_code == 404


def test_a_profile_of_an_alias_has_lists_of_its_own(editor: Editor, user: User) -> None:
    alias = aliases.add(user=user, name="Countess", redirects=False, has_own_profile=True, by=user)
    editor.fill(f"{ROOT}/{alias.profile_id}/links/add/", title="Hers", url="https://countess.example/")
    assert editor.response.request["PATH_INFO"] == f"{ROOT}/{alias.profile_id}/links/"
    assert editor.shown("links") == []
    answer = answers.user("Countess", "links", showAliasProfile="true")
    assert [link["title"] for link in answer.body["links"]] == ["Hers"]


LINKS = f"{ROOT}/links/"


def values_of(case: Case, pk: str) -> dict[str, Any]:
    found: dict[str, Any] = registry.LISTS[case.name].model._default_manager.values().get(pk=pk)
    return found


@pytest.mark.embedded
@every_list
def test_a_deleted_row_comes_back_with_its_id_and_place(case: Case, editor: Editor, profile: Profile) -> None:
    rows = [case.factory(profile=profile, order=order).pk for order in range(3)]
    shown(profile.user)
    url, before = f"{ROOT}/{case.name}/", editor.shown(case.name)
    stored = values_of(case, rows[1])
    editor.open(f"{url}{rows[1]}/delete/").press(f"{url}{rows[1]}/delete/")
    assert problems_of(editor.response) == []
    assert ": deleted. Undo" in editor.text
    editor.press(f"{url}restore/", pk=rows[1])
    assert ": restored." in editor.text
    assert values_of(case, rows[1]) == stored
    assert editor.shown(case.name) == before
    events = AuditEvent.objects.filter(verb="profile:content_changed").order_by("pk")
    assert [event.data["act"] for event in events] == ["deleted", "restored"]
    editor.press(f"{url}restore/", pk=rows[1])
    assert editor.shown(case.name) == before, "the second request changes nothing"
    assert "cannot be undone" not in editor.text


def test_the_last_deletion_can_be_undone_for_ten_minutes(editor: Editor, profile: Profile) -> None:
    first, second = (LinkFactory.create(profile=profile, order=order) for order in range(2))
    for row in (first, second):
        editor.open(f"{LINKS}{row.pk}/delete/").press(f"{LINKS}{row.pk}/delete/")
    editor.press(f"{LINKS}restore/", pk=first.pk)
    assert "This deletion cannot be undone any more." in editor.text
    with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=2)):
        editor.press(f"{LINKS}restore/", pk=second.pk)
        assert "This deletion cannot be undone any more." in editor.text
        assert "Undo" not in editor.open(LINKS).text
    assert editor.shown("links") == []


def test_another_user_restores_nothing(editor: Editor, profile: Profile) -> None:
    row = LinkFactory.create(profile=profile)
    editor.open(f"{LINKS}{row.pk}/delete/").press(f"{LINKS}{row.pk}/delete/")
    other = Client()
    other.force_login(UserFactory.create())
    refused = other.post(f"{LINKS}restore/", {"pk": row.pk}, follow=True)
    assert "This deletion cannot be undone any more." in said(refused)
    assert editor.client.get(f"{LINKS}restore/").status_code == 405
    assert not profile.links.exists()


def test_a_section_comes_back_with_its_pictures(editor: Editor, profile: Profile) -> None:
    section = SectionFactory.create(profile=profile, type="GALLERY", config={})
    inside = GalleryItemFactory.create(profile=profile, section=section)
    url = f"{ROOT}/sections/"
    editor.open(f"{url}{section.pk}/delete/").press(f"{url}{section.pk}/delete/")
    assert GalleryItem.objects.get(pk=inside.pk).section_id is None
    editor.press(f"{url}restore/", pk=section.pk)
    assert GalleryItem.objects.get(pk=inside.pk).section_id == section.pk


def test_a_full_list_takes_nothing_back(editor: Editor, profile: Profile) -> None:
    url, rows = f"{ROOT}/backgrounds/", [BackgroundFactory.create(profile=profile, order=order) for order in range(20)]
    editor.open(f"{url}{rows[3].pk}/delete/").press(f"{url}{rows[3].pk}/delete/")
    BackgroundFactory.create(profile=profile)
    editor.press(f"{url}restore/", pk=rows[3].pk)
    assert "A profile has at most 20 backgrounds: delete one to add another." in editor.text
    assert profile.backgrounds.count() == 20


def test_the_file_of_a_row_waits_for_it_and_then_goes(editor: Editor, profile: Profile) -> None:
    editor.fill(f"{ROOT}/backgrounds/add/", title="The sea", asset=picture())
    row, url = profile.backgrounds.get(), f"{ROOT}/backgrounds/"
    editor.open(f"{url}{row.pk}/delete/").press(f"{url}{row.pk}/delete/")
    assert Asset.objects.get(pk=row.asset_id).unused_since is not None
    editor.press(f"{url}restore/", pk=row.pk)
    assert Asset.objects.get(pk=row.asset_id).unused_since is None
    editor.open(f"{url}{row.pk}/delete/").press(f"{url}{row.pk}/delete/")
    uploads.sweep(now=timezone.now() + uploads.UNUSED_FOR)
    assert not Asset.objects.filter(pk=row.asset_id).exists()
    editor.press(f"{url}restore/", pk=row.pk)
    assert "This cannot be undone any more, because its file has been removed." in editor.text
    assert not profile.backgrounds.exists()


def test_files_of_deleted_rows_make_room_for_new_ones(editor: Editor, profile: Profile) -> None:
    large = AssetFactory.create(owner=profile.user, size=uploads.QUOTA, path="kept/film.mp4", mime="video/mp4")
    row = BackgroundFactory.create(profile=profile, asset=large)
    url = f"{ROOT}/backgrounds/"
    editor.fill(f"{url}add/", title="The sea", asset=picture())
    assert "Your files may have 200 MB together" in editor.text
    editor.open(f"{url}{row.pk}/delete/").press(f"{url}{row.pk}/delete/")
    editor.fill(f"{url}add/", title="The sea", asset=picture())
    assert [one.title for one in profile.backgrounds.all()] == ["The sea"]
    assert not Asset.objects.filter(pk=large.pk).exists()
