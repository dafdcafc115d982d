"""Every list: what is added, changed, put in order, switched off or deleted in the editor is so in the lookup."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import AuditEvent, User
from lookup import aliases, content
from lookup.models import Asset, Profile
from tests.dashboard.profile_content.cases import CASES, Case
from tests.dashboard.profile_content.editor import ROOT, Editor
from tests.factories.accounts import UserFactory
from tests.factories.lookup import main_profile, shown
from tests.lookup import answers
from tests.pages.markup import problems_of

every_list = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
SWITCHED = tuple(case for case in CASES if content.LISTS[case.name].switch)


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


@every_list
def test_what_is_added_and_changed_shows_in_the_lookup(case: Case, editor: Editor) -> None:
    editor.fill(url(case, f"{case.add}/"), **case.typed())
    [entry] = editor.shown(case.name)
    assert picked(entry, case.expected) == case.expected
    editor.fill(url(case, f"{entry['id']}/"), **case.changed)
    assert editor.response.request["PATH_INFO"] == url(case)
    [entry] = editor.shown(case.name)
    assert picked(entry, case.then) == case.then


@every_list
def test_up_and_down_change_the_order(case: Case, editor: Editor, profile: Profile) -> None:
    first, second, third = three(case, profile)
    editor.open(url(case)).press(url(case, f"{third}/move/"), places="up")
    assert ids(editor, case) == [first, third, second]
    editor.press(url(case, f"{first}/move/"), places="down")
    assert ids(editor, case) == [third, first, second]
    editor.press(url(case, f"{third}/move/"), places="up")
    assert ids(editor, case) == [third, first, second], "the first one stays where it is"


@every_list
def test_the_whole_order_is_sent_at_once(case: Case, editor: Editor, profile: Profile) -> None:
    first, second, third = three(case, profile)
    editor.open(url(case)).press(url(case, "order/"), pk=[third, first, second])
    assert editor.response.status_code == 204
    assert ids(editor, case) == [third, first, second]
    editor.open(url(case)).press(url(case, "order/"), pk=[first, first])
    assert (editor.response.status_code, editor.response.content) == (
        409,
        b"The list has changed meanwhile. Open the page again.",
    )
    assert ids(editor, case) == [third, first, second]


@pytest.mark.parametrize("case", SWITCHED, ids=lambda case: case.name)
def test_what_is_switched_off_is_gone_until_it_is_on(case: Case, editor: Editor, profile: Profile) -> None:
    first, second, third = three(case, profile)
    editor.open(url(case)).press(url(case, f"{second}/switch/"), is_on="0")
    assert "is off." in editor.text
    on = [entry["id"] for entry in editor.shown(case.name) if entry.get("enabled", True)]
    assert on == [first, third]
    editor.press(url(case, f"{second}/switch/"), is_on="1")
    assert [entry["id"] for entry in editor.shown(case.name) if entry.get("enabled", True)] == [first, second, third]


@pytest.mark.parametrize("case", [case for case in CASES if case not in SWITCHED], ids=lambda case: case.name)
def test_what_has_no_switch_cannot_be_switched(case: Case, editor: Editor, profile: Profile) -> None:
    first, *_ = three(case, profile)
    assert editor.open(url(case)).press(url(case, f"{first}/switch/"), is_on="0").response.status_code == 404


@every_list
def test_deleting_asks_first(case: Case, editor: Editor, profile: Profile) -> None:
    first, second, third = three(case, profile)
    editor.open(url(case, f"{second}/delete/"))
    assert problems_of(editor.response) == []
    assert ids(editor, case) == [first, second, third], "a GET deletes nothing"
    editor.press(url(case, f"{second}/delete/"))
    assert ids(editor, case) == [first, third]
    assert f"row-{second}" not in editor.response.content.decode()
    event = AuditEvent.objects.get(verb="profile:content_changed")
    assert (event.actor_name, event.data["act"], event.data["id"]) == ("Ada", "deleted", second)


@every_list
def test_what_belongs_to_somebody_else_is_404(case: Case, editor: Editor) -> None:
    other = main_profile(UserFactory(username="Other"))
    row = case.factory(profile=other)
    for page in ("", "delete/"):
        assert editor.open(url(case, f"{row.pk}/{page}")).response.status_code == 404
    editor.open(url(case))
    token = editor.client.cookies["csrftoken"].value
    for page, values in (("", case.changed), ("move/", {"places": "up"}), ("switch/", {"is_on": "0"}), ("delete/", {})):
        sent = editor.client.post(url(case, f"{row.pk}/{page}"), {"csrfmiddlewaretoken": token, **values})
        assert sent.status_code == 404, page
    sent = editor.client.post(url(case, "order/"), {"csrfmiddlewaretoken": token, "pk": [row.pk]})
    assert sent.status_code == 409
    assert type(row).objects.filter(pk=row.pk, profile=other).exists()
    assert editor.open(f"{ROOT}/{other.pk}/{case.name}/").response.status_code == 404


@every_list
def test_each_page_is_whole_and_is_for_those_who_are_signed_in(case: Case, editor: Editor, profile: Profile) -> None:
    empty = editor.open(url(case)).response
    assert problems_of(empty) == []
    assert "Add a" in editor.text
    first, *_ = three(case, profile)
    for page in ("", f"{case.add}/", f"{first}/"):
        assert problems_of(editor.open(url(case, page)).response) == [], page
    editor.client.logout()
    for page in ("", f"{case.add}/", f"{first}/", f"{first}/delete/"):
        answer = editor.client.get(url(case, page))
        assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (302, "/accounts/login/")


@every_list
def test_a_get_changes_nothing(case: Case, editor: Editor, profile: Profile) -> None:
    rows = three(case, profile)
    before = editor.shown(case.name)
    for page in ("", f"{case.add}/", f"{rows[0]}/", f"{rows[0]}/delete/"):
        editor.open(url(case, page))
    for page in (f"{rows[2]}/move/?places=up", f"{rows[0]}/switch/?is_on=0", "order/"):
        assert editor.open(url(case, page)).response.status_code in (404, 405)
    assert editor.shown(case.name) == before
    assert not AuditEvent.objects.filter(verb__startswith="profile:").exists()


@every_list
def test_a_form_that_has_grown_stale_saves_nothing(case: Case, editor: Editor, profile: Profile) -> None:
    first, *_ = three(case, profile)
    editor.open(url(case, f"{first}/"))
    stale, before = editor.response, editor.shown(case.name)[0]
    editor.fill(url(case, f"{first}/"), **case.changed)
    saved = editor.shown(case.name)[0]
    assert saved != before
    editor.response = stale
    field, typed = next((name, value) for name, value in case.changed.items() if isinstance(value, str))
    editor.send(url(case, f"{first}/"), **{field: typed[:-1] or "other"})
    assert "Somebody changed this while you edited it." in editor.text
    assert editor.shown(case.name)[0] == saved


@every_list
def test_a_full_list_takes_no_more(case: Case, editor: Editor, profile: Profile) -> None:
    most = content.LISTS[case.name].limit
    for order in range(most - 1):
        case.factory(profile=profile, order=order)
    editor.fill(url(case, f"{case.add}/"), **case.typed())
    assert len(editor.shown(case.name)) == most
    assert editor.open(url(case)).page.xpath(f"//a[@href='{url(case, 'add/')}']") == []
    editor.fill(url(case, f"{case.add}/"), **case.typed())
    assert f"A profile has at most {most} " in editor.text
    assert len(editor.shown(case.name)) == most
    assert not Asset.objects.filter(size__isnull=False).exclude(pk__in=_shown_assets(profile)).exists()


@every_list
def test_a_list_costs_the_same_for_one_row_and_for_ten(
    case: Case, editor: Editor, profile: Profile, django_assert_num_queries: Any
) -> None:
    """Session, user and the profile; its rows; the frame's list of profiles."""
    case.factory(profile=profile)
    editor.open(url(case))
    with CaptureQueriesContext(connection) as for_one:
        editor.open(url(case))
    for order in range(1, 10):
        case.factory(profile=profile, order=order)
    with django_assert_num_queries(len(for_one)):
        editor.open(url(case))
    assert len(editor.page.xpath("//li[@data-pk]")) == 10


@every_list
def test_pictures_may_come_from_another_host(case: Case, editor: Editor, profile: Profile, settings: Settings) -> None:
    settings.UPLOAD_CDN_URL = "https://cdn.example/up"
    first, *_ = three(case, profile)
    for page in ("", f"{first}/"):
        response = editor.open(url(case, page)).response
        policy = dict(rule.split(" ", 1) for rule in response.headers["Content-Security-Policy"].split("; "))
        assert policy["img-src"] == "'self' data: https://cdn.example"
        assert policy["script-src"] == "'self'"
        for picture in editor.page.xpath("//main//img/@src"):
            assert picture.startswith(("https://cdn.example/up/", "data:image/svg+xml;base64,", "/")), picture


@every_list
def test_what_is_no_id_is_404(case: Case, editor: Editor) -> None:
    for pk in ("a%00b", "x" * 32, "A" * 32, "0" * 31):
        assert editor.open(url(case, f"{pk}/")).response.status_code == 404


def test_a_profile_of_an_alias_has_lists_of_its_own(editor: Editor, user: User) -> None:
    alias = aliases.add(user=user, name="Countess", redirects=False, has_own_profile=True, by=user)
    editor.fill(f"{ROOT}/{alias.profile_id}/links/add/", title="Hers", url="https://countess.example/")
    assert editor.response.request["PATH_INFO"] == f"{ROOT}/{alias.profile_id}/links/"
    assert editor.shown("links") == []
    answer = answers.user("Countess", "links", showAliasProfile="true")
    assert [link["title"] for link in answer.body["links"]] == ["Hers"]


def _shown_assets(profile: Profile) -> set[str]:
    """The files that rows of the profile name."""
    rows = [row for one in content.LISTS.values() for row in one.rows_of(profile.pk)]
    return {pk for row in rows for pk in content._assets_of(row)}
