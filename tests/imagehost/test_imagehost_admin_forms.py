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
HOSTILE = ["\x00", "a\x00b", "x", "9" * 40, "\U0001f331"]


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


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "This field is required."),
        ("x" * 33, "Ensure this value has at most 32 characters (it has 33)."),
        ("a\x00b", "Null characters are not allowed."),
        ("a\u202eb", "Contains control or invisible characters."),
        ("Taken", "There is a folder of this name already."),
    ],
)
def test_a_name_that_cannot_be_is_a_form_error(name: str, sentence: str) -> None:
    folder = FolderFactory(name="Shots")
    FolderFactory(owner=folder.owner, name="Taken")
    FolderFactory(name="Of somebody else")
    browser, url = superuser(), f"{FOLDERS}{folder.pk}/change/"
    assert errors(browser, url, name=name) == {"name": [sentence]}
    added = errors(browser, f"{FOLDERS}add/", owner=folder.owner_id, name=name)
    assert list(added.values()) == [[sentence]]
    save(browser, url, name="Of somebody else")


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


REFUSED: list[tuple[dict[str, str], dict[str, list[str]]]] = [
    ({"pattern": ""}, {"pattern": ["This field is required."]}),
    (
        {"kind": "extension", "pattern": "exe"},
        {
            "pattern": [
                "No upload is stored with the extension exe. Use one of png, jpg, webp, gif, avif, mp4, webm or mov."
            ]
        },
    ),
    ({"pattern": "a/b"}, {"pattern": ["A file name has no folders in it: leave out / and \\."]}),
    ({"pattern": "a\x00b"}, {"pattern": ["Null characters are not allowed."]}),
    ({"kind": "x"}, {"kind": ["Select a valid choice. x is not one of the available choices."]}),
    ({"folder": "foreign"}, {"folder": ["This folder belongs to somebody else."]}),
    *(
        ({"folder": key}, {"folder": ["Select a valid choice. That choice is not one of the available choices."]})
        for key in HOSTILE
    ),
]


@pytest.mark.parametrize(("changes", "problems"), REFUSED)
def test_a_rule_that_cannot_be_is_a_form_error(changes: dict[str, str], problems: dict[str, list[str]]) -> None:
    folder, foreign = FolderFactory(), FolderFactory()
    rule = FolderRuleFactory(folder=folder, position=0, kind="filename", pattern="*")
    values = {**changes, **({"folder": foreign.pk} if changes.get("folder") == "foreign" else {})}
    browser = superuser()
    assert errors(browser, f"{RULES}{rule.pk}/change/", **values) == problems
    whole = {"owner": folder.owner_id, "folder": folder.pk, "kind": "filename", "pattern": "*", **values}
    assert errors(browser, f"{RULES}add/", **whole) == problems
    assert order_of(folder) == [(0, "filename", "*")]


@pytest.mark.parametrize("key", HOSTILE)
def test_an_owner_that_there_is_not_is_a_form_error(key: str) -> None:
    folder = FolderFactory()
    browser = superuser()
    assert list(errors(browser, f"{FOLDERS}add/", owner=key, name="Shots")) == ["owner"]
    values = {"owner": key, "folder": folder.pk, "kind": "filename", "pattern": "*"}
    assert "owner" in errors(browser, f"{RULES}add/", **values)


def test_a_rule_too_many_is_told() -> None:
    folder = FolderFactory()
    FolderRule.objects.bulk_create(
        FolderRule(owner=folder.owner, folder=folder, position=n, kind="filename", pattern="*") for n in range(100)
    )
    values = {"owner": folder.owner_id, "folder": folder.pk, "kind": "filename", "pattern": "*"}
    answer = superuser().post(f"{RULES}add/", values, follow=True)
    assert "There can be at most 100 rules. Delete one first." in answer.content.decode()
    assert (FolderRule.objects.count(), recorded()) == (100, [])


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


@pytest.mark.parametrize("name", ["folder", "folderrule"])
def test_forms_cost_the_same_however_many_rows_there_are(name: str) -> None:
    browser, url = superuser(), f"/admin/imagehost/{name}/add/"
    browser.get(url)

    def choices() -> int:
        return browser.get(url).content.count(b"<option")

    before = choices()
    for _ in range(5):
        FolderRuleFactory()
    assert choices() == before


def test_folders_are_looked_up_not_listed() -> None:
    folder = FolderFactory(name="Shots")
    query = {"app_label": "imagehost", "model_name": "folderrule", "field_name": "folder"}
    browser = superuser()
    for term in ("sho", folder.pk, folder.owner.username):
        found = browser.get("/admin/autocomplete/", {**query, "term": term}).json()["results"]
        assert [choice["id"] for choice in found] == [folder.pk]
    assert browser.get("/admin/autocomplete/", {**query, "term": "x" * 5000}).status_code == 200
