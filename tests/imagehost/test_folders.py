"""The folders of the caller: listed, made, shown with their files, changed, deleted."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.hashers import check_password
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from imagehost import media
from imagehost.errors import InvalidBody, Unauthorized
from imagehost.folders import folders
from imagehost.folders.folders import Changes
from imagehost.models import File, Folder, FolderRule, State, Usage
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost import answers
from tests.imagehost.answers import EXISTS, NOT_FOUND, OTHER_SECRET, Json
from tests.imagehost.uploading import Answer

MOMENT = datetime(2026, 3, 1, 12, 30, 15, 999_999, tzinfo=UTC)  # of UNIX second 1772368215


def folder(**changes: object) -> Json:
    """A new folder as it is answered, but for its id."""
    plain = {"folderName": "Clips", "folderPublic": False, "folderPasswordEnabled": False}
    times = {"createdAt": 1772368215, "updatedAt": 1772368215}
    return {**plain, **times, "fileCount": 0, "totalSize": 0, **changes}


def test_folders_are_listed_oldest_first_with_what_is_in_them(opal: User) -> None:
    old, twin, full = (
        FolderFactory(owner=opal, id=letter * 32, name=letter, created_at=MOMENT - timedelta(age), updated_at=MOMENT)
        for letter, age in (("c", 2), ("d", 2), ("a", 1))
    )
    FileFactory(folder=full, size=2**40)
    FileFactory(folder=full, size=7, quarantined_at=timezone.now())
    FileFactory(folder=full, state=State.PENDING)
    FileFactory(folder=full, state=State.DELETED)
    FileFactory(folder=twin, size=5)
    FileFactory(owner=opal)
    FileFactory(folder=FolderFactory(owner=answers.ben(), name="c"))
    shown = [
        {"id": one.pk, **folder(folderName=name, createdAt=created, fileCount=count, totalSize=size)}
        for one, name, created, count, size in (
            (old, "c", 1772195415, 0, 0),
            (twin, "d", 1772195415, 1, 5),
            (full, "a", 1772281815, 2, 2**40 + 7),
        )
    ]
    assert answers.folders().whole == (200, {"folders": shown})


def test_a_user_has_a_few_hundred_folders_at_most(opal: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MAX_FOLDERS", 2)
    FolderFactory()
    for number in range(2):
        assert answers.create({"folderName": str(number)}).status == 201
    error = "folderName: A user has at most 2 folders."
    assert answers.create({"folderName": "2"}).whole == (400, {"error": error, "code": "INVALID_BODY"})


WITH_PASSWORD = {"folderPublic": True, "folderPasswordEnabled": True, "folderPassword": " sea and sun "}
CREATED: list[tuple[Json, Json]] = [
    ({"folderName": " Clips\n"}, {}),
    ({"folderName": "Clips", "folderPublic": False, "folderPasswordEnabled": False, "folderPassword": ""}, {}),
    ({"folderName": "Clips", **WITH_PASSWORD}, {"folderPublic": True, "folderPasswordEnabled": True}),
]


@pytest.mark.parametrize(("body", "changes"), CREATED)
def test_a_folder_is_made_as_the_body_says(opal: User, body: Json, changes: Json) -> None:
    with time_machine.travel(MOMENT, tick=False):
        answer = answers.create(body)
    made = Folder.objects.get()
    assert answer.whole == (201, {"folder": {"id": made.pk, **folder(**changes)}})
    assert made.owner == opal
    assert answers.folders().body == {"folders": [answer.body["folder"]]}
    assert made.password_hash == "" or check_password(" sea and sun ", made.password_hash)
    assert made.password_hash.startswith("argon2") is made.is_password_enabled


def test_a_name_is_unique_for_its_owner_alone(opal: User) -> None:
    answers.ben()
    assert answers.create({"folderName": "Clips"}).status == 201
    for same in ("Clips", " Clips "):
        assert answers.create({"folderName": same}).whole == EXISTS
    assert answers.create({"folderName": "clips"}).status == 201
    assert answers.create({"folderName": "Clips"}, OTHER_SECRET).status == 201
    assert answers.create({"folderName": "Cafe\u0301"}).status == 201
    assert answers.create({"folderName": "Caf\u00e9"}).whole == EXISTS
    assert Folder.objects.count() == 4


SHOWN = {
    "id": "c" * 32,
    "folderName": "Clips",
    "folderPublic": True,
    "folderPasswordEnabled": True,
    "createdAt": 1772368215,
    "updatedAt": 1772368215,
}
FILES = [  # the second and the third are of one moment: the ids decide
    {
        "id": f"00000000-0000-0000-0000-00000000000{number}",
        "fileName": f"number0{number}",
        "fileExtension": "webm",
        "fileOriginal": "holiday.webm",
        "fileSize": 1000,
        "uploadAt": 1772368215 - age,
        "favorite": False,
        "folder": SHOWN,
        "fileWidth": 640,
        "fileHeight": 480,
    }
    for number, age in ((2, 1), (3, 3), (1, 3))
]


@pytest.mark.parametrize(
    ("query", "files", "limit", "offset"),
    [({}, FILES, 100, 0), ({"limit": 1, "offset": 1}, FILES[1:2], 1, 1), ({"offset": 9}, [], 100, 9)],
)
def test_a_folder_is_shown_with_its_files_newest_first(
    opal: User, query: dict[str, Any], files: list[Json], limit: int, offset: int
) -> None:
    """Any: of a parameter."""
    full = FolderFactory(owner=opal, id="c" * 32, name="Clips", password="x", created_at=MOMENT, updated_at=MOMENT)
    for number, age in ((1, 3), (2, 1), (3, 3)):
        FileFactory(
            folder=full,
            id=uuid.UUID(int=number),
            name=f"number0{number}",
            media=media.WEBM,
            uploaded_at=MOMENT - timedelta(seconds=age),
        )
    FileFactory(owner=opal)
    FileFactory(folder=FolderFactory(owner=opal))
    FileFactory(folder=full, state=State.PENDING)
    FileFactory(folder=full, state=State.DELETED)
    body = {"folder": SHOWN, "files": files, "total": 3, "limit": limit, "offset": offset}
    assert answers.show(full.pk, **query).whole == (200, body)


def test_a_page_of_a_folder_that_cannot_be_is_refused_whether_the_folder_exists_or_not(opal: User) -> None:
    for folder_id in (FolderFactory(owner=opal).pk, "f" * 32):
        assert answers.show(folder_id, limit=101).whole == answers.LIMIT_INVALID
        assert answers.show(folder_id, offset=-1).whole == answers.OFFSET_INVALID
    assert answers.show(FolderFactory(owner=opal).pk, offset=10**30).body["offset"] == 10**30


def test_a_deleted_folder_leaves_its_files_in_the_root_and_takes_its_rules_along(opal: User) -> None:
    gone, kept = FolderFactory(owner=opal), FolderFactory(owner=opal)
    files = {FileFactory(folder=gone, state=state).pk for state in State}
    others = FileFactory(folder=kept)
    FolderRuleFactory(folder=gone)
    rule = FolderRuleFactory(folder=kept)
    used = Usage.objects.get().used_bytes
    assert answers.delete(gone.pk).whole == (200, {"ok": True})
    assert set(File.objects.filter(folder=None).values_list("pk", flat=True)) == files
    assert File.objects.get(pk=others.pk).folder == kept
    assert list(FolderRule.objects.all()) == [rule]
    assert Usage.objects.get().used_bytes == used
    assert answers.gallery().body["total"] == 2
    assert answers.delete(gone.pk).whole == NOT_FOUND
    assert answers.show(gone.pk).whole == NOT_FOUND
    assert [one["id"] for one in answers.folders().body["folders"]] == [kept.pk]


def test_the_folder_of_another_user_is_as_one_that_is_not_there(opal: User) -> None:
    theirs = FolderFactory(owner=answers.ben(), id="abcdef0123456789" * 2, password="x")
    FolderRuleFactory(folder=theirs)
    FileFactory(folder=theirs)
    before = Folder.objects.values().get()
    acts: list[Callable[[str], Answer]] = [answers.show, answers.delete]
    acts.append(lambda folder_id: answers.change(folder_id, {"folderName": "x"}))
    for folder_id in (theirs.pk, "f" * 32, theirs.pk.upper(), str(uuid.UUID(theirs.pk)), "%FF", "a" * 2000):
        assert [act(folder_id).whole for act in acts] == [NOT_FOUND] * 3, folder_id
    assert Folder.objects.values().get() == before
    assert File.objects.get().folder == theirs
    assert FolderRule.objects.count() == 1


def test_another_method_is_405(opal: User) -> None:
    for path, allowed in (
        (answers.GALLERY, {"GET", "HEAD"}),
        (answers.FOLDERS, {"GET", "HEAD", "POST"}),
        (f"{answers.FOLDERS}/{'f' * 32}", {"GET", "HEAD", "PATCH", "DELETE"}),
    ):
        answer = answers.call("PUT", f"{path}?key={answers.SECRET}")
        assert answer.whole == (405, {"error": "errors.methodNotAllowed"})
        assert set(answer.headers["Allow"].split(", ")) == allowed


def test_the_database_refuses_a_second_folder_of_one_name(opal: User) -> None:
    FolderFactory(owner=opal, name="Clips")
    with pytest.raises(IntegrityError, match=r"imagehost_folder_unique_name|UNIQUE constraint"), transaction.atomic():
        FolderFactory(owner=opal, name="Clips")


def test_nothing_is_made_or_changed_for_an_account_that_has_just_been_deleted(opal: User) -> None:
    gone, now = "f" * 32, timezone.now()
    for act in (
        lambda: folders.create(owner_id=gone, changes=Changes(name="x"), now=now),
        lambda: folders.change(owner_id=gone, folder_id=gone, changes=Changes(name="x"), now=now),
        lambda: folders.delete(owner_id=gone, folder_id=gone),
    ):
        with pytest.raises(Unauthorized):
            act()
    assert not Folder.objects.exists()


MADE_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHANGED_AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
FOR_PUBLIC = "folderPasswordEnabled: Only a public folder can have a password."
NOT_ENABLED = "folderPassword: Is allowed only with folderPasswordEnabled."
NEEDED = "folderPassword: Needs 1 to 32 characters."

PRIVATE, PUBLIC, LOCKED = (False, ""), (True, ""), (True, "old")  # public, and the password


def made(opal: User, state: tuple[bool, str]) -> Folder:
    """A folder with one file, in one of the three states."""
    is_public, password = state
    folder = FolderFactory(
        owner=opal, name="Clips", is_public=is_public, password=password, created_at=MADE_AT, updated_at=MADE_AT
    )
    FileFactory(folder=folder, size=77)
    return folder


def change(folder: Folder, changes: Changes) -> Folder:
    return folders.change(owner_id=folder.owner_id, folder_id=folder.pk, changes=changes, now=CHANGED_AT)


CHANGES: dict[str, tuple[tuple[bool, str], Changes, tuple[bool, str]]] = {
    "another name of a locked one": (LOCKED, Changes(name=" Pictures "), LOCKED),
    "public": (PRIVATE, Changes(is_public=True), PUBLIC),
    "private takes the password away": (LOCKED, Changes(is_public=False), PRIVATE),
    "private and no password": (LOCKED, Changes(is_public=False, is_password_enabled=False), PRIVATE),
    "no password": (LOCKED, Changes(is_password_enabled=False), PUBLIC),
    "no password and an empty one": (LOCKED, Changes(is_password_enabled=False, password=""), PUBLIC),
    "a password": (PUBLIC, Changes(is_password_enabled=True, password="new"), (True, "new")),
    "everything": (PRIVATE, Changes("New", is_public=True, is_password_enabled=True, password="new"), (True, "new")),
    "another password": (LOCKED, Changes(password="new"), (True, "new")),
    "another password, enabled again": (LOCKED, Changes(is_password_enabled=True, password="x"), (True, "x")),
    "enabled again": (LOCKED, Changes(is_password_enabled=True), LOCKED),
    "private again": (PRIVATE, Changes(is_public=False, is_password_enabled=False, password=""), PRIVATE),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_is_made_and_the_rest_stays(opal: User, case: str) -> None:
    before, changes, after = CHANGES[case]
    change(made(opal, before), changes)
    folder = Folder.objects.get()
    assert (folder.name, folder.is_public) == ((changes.name or "Clips").strip(), after[0])
    assert (folder.created_at, folder.updated_at) == (MADE_AT, CHANGED_AT)
    assert check_password(after[1], folder.password_hash) if after[1] else folder.password_hash == ""


REFUSED: dict[str, tuple[tuple[bool, str], Changes, str]] = {
    "a password of a private one": (PRIVATE, Changes(password="new"), NOT_ENABLED),
    "a password that is not enabled": (PUBLIC, Changes(password="new"), NOT_ENABLED),
    "a password that ends": (LOCKED, Changes(is_password_enabled=False, password="new"), NOT_ENABLED),
    "private with another password": (LOCKED, Changes(is_public=False, password="new"), NOT_ENABLED),
    "enabled on a private one": (PRIVATE, Changes(is_password_enabled=True, password="new"), FOR_PUBLIC),
    "private and enabled": (LOCKED, Changes(is_public=False, is_password_enabled=True), FOR_PUBLIC),
    "enabled without one": (PUBLIC, Changes(is_password_enabled=True), NEEDED),
    "enabled with an empty one": (PUBLIC, Changes(is_password_enabled=True, password=""), NEEDED),
    "emptied": (LOCKED, Changes(password=""), NEEDED),
    "too long": (LOCKED, Changes(password="x" * 33), "folderPassword: Has 33 characters; at most 32 are allowed."),
    "an empty name": (PUBLIC, Changes(name=" "), "folderName: Must not be empty."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_together_is_refused_and_nothing_changes(opal: User, case: str) -> None:
    state, changes, sentence = REFUSED[case]
    folder = made(opal, state)
    before = Folder.objects.values().get()
    with pytest.raises(InvalidBody) as refusal:
        change(folder, changes)
    assert refusal.value.error == sentence
    assert Folder.objects.values().get() == before


def test_a_new_folder_keeps_the_same_rules(opal: User) -> None:
    for changes, sentence in (
        (Changes(is_public=True), "folderName: This field is required."),
        (Changes("x", is_public=True, password="y"), NOT_ENABLED),
        (Changes("x", is_password_enabled=True, password="y"), FOR_PUBLIC),
        (Changes("x", is_public=True, is_password_enabled=True), NEEDED),
    ):
        with pytest.raises(InvalidBody) as refusal:
            folders.create(owner_id=opal.pk, changes=changes, now=CHANGED_AT)
        assert refusal.value.error == sentence
    assert not Folder.objects.exists()


# --- PATCH /api/imagehost/folders/{id} ---


def test_a_change_is_answered_with_the_whole_folder(opal: User) -> None:
    folder = made(opal, PRIVATE)
    body = {"folderName": "New", "folderPublic": True, "folderPasswordEnabled": True, "folderPassword": "new"}
    with time_machine.travel(CHANGED_AT, tick=False):
        answer = answers.change(folder.pk, body)
    shown = {
        "id": folder.pk,
        "folderName": "New",
        "folderPublic": True,
        "folderPasswordEnabled": True,
        "createdAt": int(MADE_AT.timestamp()),
        "updatedAt": int(CHANGED_AT.timestamp()),
    }
    assert answer.whole == (200, {"folder": {**shown, "fileCount": 1, "totalSize": 77}})
    assert answers.show(folder.pk).body["folder"] == shown


def test_a_body_that_says_nothing_changes_nothing_and_the_name_of_another_folder_is_taken(opal: User) -> None:
    folder = made(opal, LOCKED)
    before = Folder.objects.values().get()
    answer = answers.change(folder.pk, {})
    assert (answer.status, answer.body["folder"]["updatedAt"]) == (200, int(MADE_AT.timestamp()))
    assert Folder.objects.values().get() == before
    FolderFactory(owner=opal, name="Taken")
    FolderFactory(owner=answers.ben(), name="Free")
    assert answers.change(folder.pk, {"folderName": "Taken "}).whole == EXISTS
    assert answers.change(folder.pk, {"folderName": "Free"}).status == 200
