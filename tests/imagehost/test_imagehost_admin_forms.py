"""Folders and rules in the admin: through the operations, for the owner's own, and recorded."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEvent
from imagehost.models import File, Folder, FolderRule
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost.staff import helper
from tests.lookup.admin_forms import errors, post, save, superuser

pytestmark = pytest.mark.django_db

FOLDERS = "/admin/imagehost/folder/"
RULES = "/admin/imagehost/folderrule/"


def recorded() -> list[tuple[str, str]]:
    return list(AuditEvent.objects.order_by("pk").values_list("verb", "object_id"))


def order_of(folder: Folder) -> list[tuple[int, str, str]]:
    rows = FolderRule.objects.filter(owner=folder.owner).order_by("position")
    return list(rows.values_list("position", "kind", "pattern"))


def test_a_folder_is_added_for_its_owner() -> None:
    owner = UserFactory()
    save(superuser(), f"{FOLDERS}add/", owner=owner.pk, name=" Shots ", is_public="on")
    folder = Folder.objects.get()
    assert (folder.owner, folder.name, folder.is_public, folder.password_hash) == (owner, "Shots", True, "")
    assert recorded() == [("folder:added", folder.pk)]


def test_a_folder_is_changed_and_its_owner_stays() -> None:
    folder = FolderFactory(password="secret")
    owner = folder.owner
    url = f"{FOLDERS}{folder.pk}/change/"
    save(superuser(), url, name="Renamed", owner=UserFactory().pk, password_hash="x")
    folder.refresh_from_db()
    assert (folder.owner, folder.name, folder.is_public, folder.is_password_enabled) == (owner, "Renamed", True, True)
    save(superuser(), url, is_public=None)
    folder.refresh_from_db()
    assert (folder.is_public, folder.password_hash) == (False, "")
    assert recorded() == [("folder:changed", folder.pk)] * 2
    assert AuditEvent.objects.earliest("pk").data == {"owner": owner.pk, "changed": ["name"]}


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


def test_a_rule_is_added_at_the_end_of_its_owners() -> None:
    folder = FolderFactory()
    FolderRuleFactory(folder=folder, position=0, kind="filename", pattern="first")
    browser, url = superuser(), f"{RULES}add/"
    save(browser, url, owner=folder.owner_id, folder=folder.pk, kind="extension", pattern=" .JPEG ")
    assert order_of(folder) == [(0, "filename", "first"), (1, "extension", "jpg")]
    rule = FolderRule.objects.get(pattern="jpg")
    assert recorded() == [("folder_rule:added", str(rule.pk))]


def test_a_rule_is_changed_in_its_place() -> None:
    folder = FolderFactory()
    rules = [FolderRuleFactory(folder=folder, position=n, kind="filename", pattern=str(n)) for n in range(2)]
    other = FolderFactory(owner=folder.owner)
    url = f"{RULES}{rules[0].pk}/change/"
    save(superuser(), url, kind="mime", pattern="IMAGE/*", folder=other.pk, position="9", owner=UserFactory().pk)
    assert order_of(folder) == [(0, "mime", "image/*"), (1, "filename", "1")]
    rules[0].refresh_from_db()
    assert rules[0].folder == other
    assert recorded() == [("folder_rule:changed", str(rules[0].pk))]


def test_deleted_rules_leave_no_gap() -> None:
    folder = FolderFactory()
    rules = [FolderRuleFactory(folder=folder, position=n, kind="filename", pattern=str(n)) for n in range(4)]
    browser = superuser()
    fields = {"action": "delete_selected", "_selected_action": [rules[0].pk, rules[2].pk], "post": "yes"}
    assert browser.post(RULES, fields).status_code == 302
    assert order_of(folder) == [(0, "filename", "1"), (1, "filename", "3")]
    assert sorted(recorded()) == sorted(("folder_rule:deleted", str(rule.pk)) for rule in (rules[0], rules[2]))


def test_a_rule_that_cannot_be_is_a_form_error() -> None:
    folder, foreign = FolderFactory(), FolderFactory()
    rule = FolderRuleFactory(folder=folder, position=0, kind="filename", pattern="*")
    whole = {"owner": folder.owner_id, "folder": folder.pk, "kind": "filename", "pattern": "*"}
    browser = superuser()
    for changes, problems in (
        ({"pattern": "a/b"}, {"pattern": ["A file name has no folders in it: leave out / and \\."]}),
        ({"folder": foreign.pk}, {"folder": ["This folder belongs to somebody else."]}),
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
