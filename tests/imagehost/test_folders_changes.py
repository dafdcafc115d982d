"""What a change of a folder makes of it: what is left out stays, and what does not fit together is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.auth.hashers import check_password

from accounts.models import User
from imagehost.errors import InvalidBody
from imagehost.folders import folders
from imagehost.folders.folders import Changes
from imagehost.models import Folder
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers
from tests.imagehost.answers import EXISTS

CREATED = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHANGED = datetime(2026, 3, 2, 12, tzinfo=UTC)
FOR_PUBLIC = "folderPasswordEnabled: Only a public folder can have a password."
NOT_ENABLED = "folderPassword: Is allowed only with folderPasswordEnabled."
NEEDED = "folderPassword: Needs 1 to 32 characters."

PRIVATE, PUBLIC, LOCKED = (False, ""), (True, ""), (True, "old")  # public, and the password


def made(opal: User, state: tuple[bool, str]) -> Folder:
    """A folder with one file, in one of the three states."""
    is_public, password = state
    folder = FolderFactory(
        owner=opal, name="Clips", is_public=is_public, password=password, created_at=CREATED, updated_at=CREATED
    )
    FileFactory(folder=folder, size=77)
    return folder


def change(folder: Folder, changes: Changes) -> Folder:
    return folders.change(owner_id=folder.owner_id, folder_id=folder.pk, changes=changes, now=CHANGED)


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
    assert (folder.created_at, folder.updated_at) == (CREATED, CHANGED)
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
            folders.create(owner_id=opal.pk, changes=changes, now=CHANGED)
        assert refusal.value.error == sentence
    assert not Folder.objects.exists()


# --- PATCH /api/imagehost/folders/{id} ---


def test_a_change_is_answered_with_the_whole_folder(opal: User) -> None:
    folder = made(opal, PRIVATE)
    body = {"folderName": "New", "folderPublic": True, "folderPasswordEnabled": True, "folderPassword": "new"}
    with time_machine.travel(CHANGED, tick=False):
        answer = answers.change(folder.pk, body)
    shown = {
        "id": folder.pk,
        "folderName": "New",
        "folderPublic": True,
        "folderPasswordEnabled": True,
        "createdAt": int(CREATED.timestamp()),
        "updatedAt": int(CHANGED.timestamp()),
    }
    assert answer.whole == (200, {"folder": {**shown, "fileCount": 1, "totalSize": 77}})
    assert answers.show(folder.pk).body["folder"] == shown


def test_a_body_that_says_nothing_changes_nothing(opal: User) -> None:
    folder = made(opal, LOCKED)
    before = Folder.objects.values().get()
    answer = answers.change(folder.pk, {})
    assert (answer.status, answer.body["folder"]["updatedAt"]) == (200, int(CREATED.timestamp()))
    assert Folder.objects.values().get() == before


def test_the_name_of_another_folder_is_taken(opal: User) -> None:
    folder = made(opal, PUBLIC)
    FolderFactory(owner=opal, name="Taken")
    FolderFactory(owner=answers.ben(), name="Free")
    assert answers.change(folder.pk, {"folderName": "Taken "}).whole == EXISTS
    assert answers.change(folder.pk, {"folderName": "Free"}).status == 200
