"""The image host in the admin: lists, pages, rights, forms and actions; each change is an operation and recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEvent, User
from accounts.plans import Plan
from imagehost import media
from imagehost.models import File, Folder, FolderRule, PreviewState, State, Usage
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.imagehost import DELETION_TOKEN, FileFactory, FolderFactory, FolderRuleFactory
from tests.lookup.admin_forms import errors, post, save, superuser

pytestmark = pytest.mark.django_db


def url_of(name: str) -> str:
    return f"/admin/imagehost/{name}/"


def helper(*rights: str) -> Client:
    """A browser signed in as a member of staff with these rights in the app alone."""
    user = UserFactory(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="imagehost", codename__in=rights))
    client = Client()
    client.force_login(user)
    return client


def cost_of(browser: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(url).status_code == 200
    return len(queries)


def listed(answer: Any) -> list[Model]:
    """Any: the test client's answer."""
    return list(answer.context["cl"].result_list)


def usage() -> Usage:
    return Usage.objects.create(owner=UserFactory(), used_bytes=5_000)


MAKE: dict[str, Callable[[], Any]] = {
    "file": lambda: FileFactory(folder=FolderFactory()),
    "folder": lambda: FileFactory(folder=FolderFactory()).folder,
    "folderrule": FolderRuleFactory,
    "usage": usage,
}
every_page = pytest.mark.parametrize("name", MAKE)


@every_page
def test_a_list_costs_the_same_for_one_row_and_for_ten(name: str) -> None:
    browser = superuser()
    MAKE[name]()
    browser.get(url_of(name))
    before = cost_of(browser, url_of(name))
    for _ in range(9):
        MAKE[name]()
    assert cost_of(browser, url_of(name)) == before


def test_a_file_is_found_by_both_names_and_its_owners_id() -> None:
    file, browser = FileFactory(name="Ab12Cd34", original_name="holiday 1.png"), superuser()
    FileFactory(original_name="work.png")
    for term in ("Ab12Cd34", "Ab12Cd34.PNG", "holi", str(file.owner_id)):
        assert listed(browser.get(url_of("file"), {"q": term})) == [file], term


@every_page
def test_a_list_is_searched_by_owner_and_odd_terms_break_nothing(name: str) -> None:
    browser, row = superuser(), MAKE[name]()
    MAKE[name]()
    assert listed(browser.get(url_of(name), {"q": row.owner.username.upper()})) == [row]
    for term in ("-1", "9" * 30, "%", '"', "x" * 5000, ".png"):
        assert browser.get(url_of(name), {"q": term}).status_code == 200


def test_files_are_filtered_by_type_state_and_quarantine_and_folders_by_password() -> None:
    browser, url = superuser(), url_of("file")
    png, mp4 = FileFactory(), FileFactory(media=media.MP4, quarantined_at=timezone.now())
    pending = FileFactory(state=State.PENDING)
    assert listed(browser.get(url, {"mime": "video/mp4"})) == [mp4]
    assert listed(browser.get(url, {"state__exact": "PENDING"})) == [pending]
    assert listed(browser.get(url, {"quarantined_at__isempty": "0"})) == [mp4]
    assert set(listed(browser.get(url, {"quarantined_at__isempty": "1"}))) == {png, pending}
    locked, _ = FolderFactory(password="secret"), FolderFactory()
    assert listed(browser.get(url_of("folder"), {"password_hash__isempty": "0"})) == [locked]


def test_a_list_counts_stored_files_and_links_to_what_is_served() -> None:
    folder, browser = FolderFactory(), superuser()
    for state in State:
        FileFactory(folder=folder, state=state)
    FileFactory(folder=folder, quarantined_at=timezone.now())
    [found] = browser.get(url_of("folder")).context["cl"].result_list
    assert found.stored_files == 2
    made, plain = FileFactory(preview_state=PreviewState.MADE), FileFactory()
    away, gone = FileFactory(quarantined_at=timezone.now()), FileFactory(state=State.DELETED, owner=None)
    html = browser.get(url_of("file")).content.decode()
    rows = [(made, True, True), (plain, True, False), (away, False, False), (gone, False, False)]
    for file, has_page, has_preview in rows:
        assert (f'/files/{file.name}">Page' in html) is has_page
        assert (f'/files/{file.name}/preview.webp">Preview' in html) is has_preview


@every_page
def test_an_object_is_opened_by_staff_who_may_see_it(name: str) -> None:
    row, url = MAKE[name](), url_of(name)
    change = f"{url}{row.pk}/change/"
    viewer, stranger = helper(f"view_{name}"), helper()
    assert (viewer.get(url).status_code, viewer.get(change).status_code) == (200, 200)
    assert viewer.post(change, {}).status_code == 403
    assert viewer.get(f"{url}add/").status_code == 403
    assert viewer.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    for closed in (url, change, f"{url}add/", f"{url}{row.pk}/delete/"):
        assert stranger.get(closed).status_code == 403


@pytest.mark.parametrize("name", ["file", "usage"])
def test_what_is_stored_is_never_written_by_hand(name: str) -> None:
    browser, row, url = superuser(), MAKE[name](), url_of(name)
    before = type(row)._default_manager.filter(pk=row.pk).values().get()
    assert browser.get(f"{url}add/").status_code == 403
    assert browser.post(f"{url}add/", {}).status_code == 403
    assert browser.post(f"{url}{row.pk}/change/", {"state": "DELETED", "used_bytes": "0"}).status_code == 403
    assert browser.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    browser.post(url, {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
    assert type(row)._default_manager.filter(pk=row.pk).values().get() == before
    assert not AuditEvent.objects.exists()


def test_no_page_holds_a_stored_secret() -> None:
    browser, folder, file = superuser(), FolderFactory(password="secret"), FileFactory()
    assert folder.password_hash.startswith("argon2")
    for name, row in (("folder", folder), ("file", file)):
        for url in (url_of(name), f"{url_of(name)}{row.pk}/change/"):
            html = browser.get(url).content.decode()
            assert not any(
                secret in html for secret in ("argon2", folder.password_hash, file.deletion_hash, DELETION_TOKEN)
            )


def test_the_usage_of_a_user_appears_beside_the_limits_of_the_current_plan() -> None:
    row, browser = usage(), superuser()
    for plan, ends_at, label, storage, file_size in (
        (Plan.FREE, None, "Free", "1.0", "75.0"),
        (Plan.IMAGEHOST, None, "ImageHost", "100.0", "250.0"),
        (Plan.PREMIUM, timezone.now(), "Free", "1.0", "75.0"),
    ):
        User.objects.filter(pk=row.owner_id).update(plan=plan, plan_expires_at=ends_at)
        html = browser.get(f"{url_of('usage')}{row.pk}/change/").content.decode()
        for shown in (label, f"{storage}\xa0GB", f"{file_size}\xa0MB", "4.9\xa0KB", "5000"):
            assert f'<div class="readonly">{shown}</div>' in html


ACTIONS = [
    ("quarantine", {}, "quarantine_file", "file:quarantined"),
    ("restore", {"quarantined_at": timezone.now()}, "quarantine_file", "file:restored"),
    ("delete", {}, "delete_file", "file:deleted"),
    ("delete", {"quarantined_at": timezone.now()}, "delete_file", "file:deleted"),
]


def is_done(file: File, act: str) -> bool:
    row = File.objects.get(pk=file.pk)
    if act == "delete":
        return row.state == State.DELETED
    return (row.quarantined_at is not None) is (act == "quarantine")


@pytest.mark.parametrize(("act", "columns", "right", "verb"), ACTIONS)
def test_an_action_on_a_file_asks_for_a_reason_and_is_recorded(
    act: str, columns: dict[str, Any], right: str, verb: str
) -> None:
    file = FileFactory(**columns)
    browser, url = helper("view_file", right), f"{url_of('file')}act/{act}/"
    assert f"{url}?id={file.pk}" in browser.get(f"{url_of('file')}{file.pk}/change/").content.decode()
    asked = browser.get(url, {"id": str(file.pk)})
    assert f'name="_selected_action" value="{file.pk}"' in asked.content.decode()
    assert browser.post(url, {"_selected_action": file.pk}).context["form"].errors == {
        "reason": ["This field is required."]
    }
    assert not AuditEvent.objects.exists()
    assert browser.post(url, {"_selected_action": file.pk, "reason": "Reported"}).status_code == 302
    assert is_done(file, act)
    event = AuditEvent.objects.get()
    assert (event.verb, event.reason, event.actor_kind, event.object_id) == (verb, "Reported", "STAFF", str(file.pk))
    assert event.data["owner"] == file.owner_id
    assert Usage.objects.get().used_bytes == (0 if act == "delete" else file.size)


@pytest.mark.parametrize(("act", "columns", "right", "verb"), ACTIONS)
def test_an_action_on_a_file_needs_its_right(act: str, columns: dict[str, Any], right: str, verb: str) -> None:
    file, others = FileFactory(**columns), {"quarantine_file", "delete_file", "change_file", "add_file"} - {right}
    without, url = helper("view_file", *others), f"{url_of('file')}act/{act}/"
    sent = {"_selected_action": file.pk, "reason": "Because"}
    assert (without.get(url, {"id": str(file.pk)}).status_code, without.post(url, sent).status_code) == (403, 403)
    assert f"/act/{act}/" not in without.get(f"{url_of('file')}{file.pk}/change/").content.decode()
    assert f'value="{act}"' not in without.get(url_of("file")).content.decode()
    without.post(url_of("file"), {"action": act, "_selected_action": file.pk})
    assert not is_done(file, act)
    assert not AuditEvent.objects.exists()


def test_a_file_offers_what_can_be_done_with_it() -> None:
    browser = superuser()
    states: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"quarantine", "delete"}),
        ({"quarantined_at": timezone.now()}, {"restore", "delete"}),
        ({"state": State.PENDING}, set()),
        ({"state": State.DELETED, "owner": None}, set()),
    ]
    for columns, acts in states:
        html = browser.get(f"{url_of('file')}{FileFactory(**columns).pk}/change/").content.decode()
        assert {act for act in ("quarantine", "restore", "delete") if f"/act/{act}/" in html} == acts


def test_usage_is_counted_again_with_a_reason() -> None:
    file = FileFactory(size=3_000)
    Usage.objects.filter(pk=file.owner_id).update(used_bytes=5_000)
    url = f"{url_of('usage')}act/recount/"
    browser = helper("view_usage", "change_usage")
    assert f"{url}?id={file.owner_id}" in browser.get(f"{url_of('usage')}{file.owner_id}/change/").content.decode()
    assert browser.post(url, {"_selected_action": file.owner_id}).context["form"].errors == {
        "reason": ["This field is required."]
    }
    assert browser.post(url, {"_selected_action": file.owner_id, "reason": "It looks wrong"}).status_code == 302
    assert Usage.objects.get().used_bytes == 3_000
    event = AuditEvent.objects.get()
    assert (event.verb, event.reason, event.actor_kind, event.object_id, event.data) == (
        *("usage:recounted", "It looks wrong", "STAFF", file.owner_id),
        {"wrong_by": 2_000},
    )
    assert helper("view_usage").post(url, {"_selected_action": file.owner_id, "reason": "x"}).status_code == 403


FOLDERS = "/admin/imagehost/folder/"
RULES = "/admin/imagehost/folderrule/"


def recorded() -> list[tuple[str, str]]:
    return list(AuditEvent.objects.order_by("pk").values_list("verb", "object_id"))


def order_of(folder: Folder) -> list[tuple[int, str, str]]:
    rows = FolderRule.objects.filter(owner=folder.owner).order_by("position")
    return list(rows.values_list("position", "kind", "pattern"))


def test_a_folder_is_added_for_its_owner_who_stays_when_it_is_changed() -> None:
    owner, browser = UserFactory(), superuser()
    save(browser, f"{FOLDERS}add/", owner=owner.pk, name=" Shots ", is_public="on")
    folder = Folder.objects.get()
    assert (folder.owner, folder.name, folder.is_public, folder.password_hash) == (owner, "Shots", True, "")
    hash_ = FolderFactory(password="secret").password_hash
    Folder.objects.filter(pk=folder.pk).update(password_hash=hash_)
    url = f"{FOLDERS}{folder.pk}/change/"
    save(browser, url, name="Renamed", owner=UserFactory().pk, password_hash="x")
    folder.refresh_from_db()
    assert (folder.owner, folder.name, folder.is_public, folder.password_hash) == (owner, "Renamed", True, hash_)
    save(browser, url, is_public=None)
    folder.refresh_from_db()
    assert (folder.is_public, folder.password_hash) == (False, "")
    assert recorded() == [("folder:added", folder.pk), *[("folder:changed", folder.pk)] * 2]
    event = AuditEvent.objects.filter(verb="folder:changed").earliest("pk")
    assert event.data == {"owner": owner.pk, "changed": ["name"]}


def test_a_name_that_cannot_be_is_a_form_error() -> None:
    folder = FolderFactory(name="Shots")
    FolderFactory(owner=folder.owner, name="Taken")
    FolderFactory(name="Free")
    browser, url = superuser(), f"{FOLDERS}{folder.pk}/change/"
    for name, sentence in (
        ("a\u202eb", "Contains control or invisible characters."),
        ("Taken", "There is a folder of this name already."),
    ):
        assert errors(browser, url, name=name) == {"name": [sentence]}
        added = errors(browser, f"{FOLDERS}add/", owner=folder.owner_id, name=name)
        assert list(added.values()) == [[sentence]]
    save(browser, url, name="Free")


def test_a_deleted_folder_leaves_its_files() -> None:
    folder = FolderFactory()
    file, rule = FileFactory(folder=folder), FolderRuleFactory(folder=folder)
    browser = superuser()
    assert rule.pattern in browser.get(f"{FOLDERS}{folder.pk}/delete/").content.decode()
    assert browser.post(f"{FOLDERS}{folder.pk}/delete/", {"post": "yes"}).status_code == 302
    assert (Folder.objects.count(), FolderRule.objects.count()) == (0, 0)
    assert File.objects.get(pk=file.pk).folder is None
    assert recorded() == [("folder:deleted", folder.pk)]


def test_rules_are_added_at_the_end_changed_in_their_place_and_deleted_without_a_gap() -> None:
    folder, browser = FolderFactory(), superuser()
    rules = [FolderRuleFactory(folder=folder, position=n, kind="filename", pattern=str(n)) for n in range(3)]
    other = FolderFactory(owner=folder.owner)
    save(browser, f"{RULES}add/", owner=folder.owner_id, folder=folder.pk, kind="extension", pattern=" .JPEG ")
    rest = [(1, "filename", "1"), (2, "filename", "2"), (3, "extension", "jpg")]
    assert order_of(folder) == [(0, "filename", "0"), *rest]
    added = FolderRule.objects.get(pattern="jpg")
    url = f"{RULES}{rules[0].pk}/change/"
    save(browser, url, kind="mime", pattern="IMAGE/*", folder=other.pk, position="9", owner=UserFactory().pk)
    assert order_of(folder) == [(0, "mime", "image/*"), *rest]
    rules[0].refresh_from_db()
    assert rules[0].folder == other
    fields = {"action": "delete_selected", "_selected_action": [rules[0].pk, rules[2].pk], "post": "yes"}
    assert browser.post(RULES, fields).status_code == 302
    assert order_of(folder) == [(0, "filename", "1"), (1, "extension", "jpg")]
    assert sorted(recorded()) == sorted(
        [
            *(("folder_rule:added", str(added.pk)), ("folder_rule:changed", str(rules[0].pk))),
            *(("folder_rule:deleted", str(rule.pk)) for rule in (rules[0], rules[2])),
        ]
    )


def test_a_rule_that_cannot_be_is_a_form_error() -> None:
    folder, foreign = FolderFactory(), FolderFactory()
    rule = FolderRuleFactory(folder=folder, position=0, kind="filename", pattern="*")
    whole = {"owner": folder.owner_id, "folder": folder.pk, "kind": "filename", "pattern": "*"}
    browser = superuser()
    for changes, problems in (
        ({"pattern": "a/b"}, {"pattern": ["A file name has no folders in it: leave out / and \\."]}),
        ({"folder": foreign.pk}, {"folder": ["This folder belongs to another user."]}),
        ({"kind": "x"}, {"kind": ["Select a valid choice. x is not one of the available choices."]}),
    ):
        assert errors(browser, f"{RULES}{rule.pk}/change/", **changes) == problems
        assert errors(browser, f"{RULES}add/", **{**whole, **changes}) == problems
    assert list(errors(browser, f"{RULES}add/", **{**whole, "owner": "a\x00b"})) == ["owner"]
    assert order_of(folder) == [(0, "filename", "*")]


def opened(browser: Client, url: str, **changes: Any) -> int:
    return int(post(browser, url, **changes).status_code)


def test_what_belongs_to_staff_is_for_superusers() -> None:
    folder = FolderFactory(owner=StaffFactory())
    rule = FolderRuleFactory(folder=folder)
    every = [f"{act}_{model}" for act in ("view", "add", "change", "delete") for model in ("folder", "folderrule")]
    browser = helper(*every)
    for url, row in ((FOLDERS, folder), (RULES, rule)):
        assert browser.post(f"{url}{row.pk}/change/", {}).status_code == 403
        assert browser.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    whole = {"owner": folder.owner_id, "folder": folder.pk, "kind": "filename", "pattern": "*"}
    assert browser.post(f"{RULES}add/", whole).status_code == 403
    assert browser.post(f"{FOLDERS}add/", {"owner": folder.owner_id, "name": "New"}).status_code == 403
    assert (Folder.objects.count(), FolderRule.objects.count(), recorded()) == (1, 1, [])
    theirs = FolderRuleFactory()
    assert opened(browser, f"{RULES}{theirs.pk}/change/", kind="filename", pattern="x") == 302
    assert opened(browser, f"{FOLDERS}{theirs.folder_id}/change/", name="x") == 302


def test_the_form_of_a_rule_lists_no_folders_and_finds_them_by_name_id_and_owner() -> None:
    browser, url = superuser(), f"{RULES}add/"
    before = browser.get(url).content.count(b"<option")
    folder = FolderFactory(name="Shots")
    assert browser.get(url).content.count(b"<option") == before
    query = {"app_label": "imagehost", "model_name": "folderrule", "field_name": "folder"}
    for term in ("sho", folder.pk, folder.owner.username):
        found = browser.get("/admin/autocomplete/", {**query, "term": term}).json()["results"]
        assert [choice["id"] for choice in found] == [folder.pk]
