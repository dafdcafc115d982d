"""PATCH /api/imagehost/folders/{id}: what is left out stays, and what does not fit together is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.auth.hashers import check_password

from accounts.models import User
from imagehost.models import Folder
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers, callers
from tests.imagehost.answers import EXISTS, Json, invalid

CREATED = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHANGED = datetime(2026, 3, 2, 12, tzinfo=UTC)
FOR_PUBLIC = "folderPasswordEnabled: Only a public folder can have a password."
NOT_ENABLED = "folderPassword: Is allowed only with folderPasswordEnabled."
NEEDED = "folderPassword: Needs 1 to 32 characters."

PRIVATE, PUBLIC, LOCKED = (False, ""), (True, ""), (True, "old")  # public, and the password


@pytest.fixture
def opal(db: None) -> User:
    return callers.opal()


def made(opal: User, state: tuple[bool, str]) -> Folder:
    """A folder with one file, in one of the three states."""
    is_public, password = state
    folder = FolderFactory(
        owner=opal, name="Clips", is_public=is_public, password=password, created_at=CREATED, updated_at=CREATED
    )
    FileFactory(folder=folder, size=77)
    return folder


CHANGES: dict[str, tuple[tuple[bool, str], Json, tuple[bool, str]]] = {
    "another name": (PRIVATE, {"folderName": " Pictures "}, PRIVATE),
    "another name of a locked one": (LOCKED, {"folderName": "Pictures"}, LOCKED),
    "public": (PRIVATE, {"folderPublic": True}, PUBLIC),
    "private": (PUBLIC, {"folderPublic": False}, PRIVATE),
    "private takes the password away": (LOCKED, {"folderPublic": False}, PRIVATE),
    "private and no password": (LOCKED, {"folderPublic": False, "folderPasswordEnabled": False}, PRIVATE),
    "no password": (LOCKED, {"folderPasswordEnabled": False}, PUBLIC),
    "no password and an empty one": (LOCKED, {"folderPasswordEnabled": False, "folderPassword": ""}, PUBLIC),
    "a password": (PUBLIC, {"folderPasswordEnabled": True, "folderPassword": "new"}, (True, "new")),
    "public with a password": (
        PRIVATE,
        {"folderPublic": True, "folderPasswordEnabled": True, "folderPassword": "new"},
        (True, "new"),
    ),
    "everything": (
        PRIVATE,
        {"folderName": "New", "folderPublic": True, "folderPasswordEnabled": True, "folderPassword": "new"},
        (True, "new"),
    ),
    "another password": (LOCKED, {"folderPassword": "new"}, (True, "new")),
    "another password, said to be enabled": (
        LOCKED,
        {"folderPasswordEnabled": True, "folderPassword": "x" * 32},
        (True, "x" * 32),
    ),
    "enabled again": (LOCKED, {"folderPasswordEnabled": True}, LOCKED),
    "public again": (LOCKED, {"folderPublic": True}, LOCKED),
    "private again": (PRIVATE, {"folderPublic": False, "folderPasswordEnabled": False, "folderPassword": ""}, PRIVATE),
    "its own name": (PUBLIC, {"folderName": "Clips"}, PUBLIC),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_is_made_and_the_rest_stays(opal: User, case: str) -> None:
    before, body, after = CHANGES[case]
    folder = made(opal, before)
    with time_machine.travel(CHANGED, tick=False):
        answer = answers.change(folder.pk, body)
    shown = {
        "id": folder.pk,
        "folderName": body.get("folderName", "Clips").strip(),
        "folderPublic": after[0],
        "folderPasswordEnabled": after[1] != "",
        "createdAt": int(CREATED.timestamp()),
        "updatedAt": int(CHANGED.timestamp()),
    }
    assert answer.whole == (200, {"folder": {**shown, "fileCount": 1, "totalSize": 77}})
    assert answers.show(folder.pk).body["folder"] == shown
    kept = Folder.objects.get().password_hash
    assert check_password(after[1], kept) if after[1] else kept == ""


REFUSED: dict[str, tuple[tuple[bool, str], Json, str]] = {
    "a password of a private one": (PRIVATE, {"folderPassword": "new"}, NOT_ENABLED),
    "a password that is not enabled": (PUBLIC, {"folderPassword": "new"}, NOT_ENABLED),
    "a password that ends": (LOCKED, {"folderPasswordEnabled": False, "folderPassword": "new"}, NOT_ENABLED),
    "private with another password": (LOCKED, {"folderPublic": False, "folderPassword": "new"}, NOT_ENABLED),
    "enabled on a private one": (PRIVATE, {"folderPasswordEnabled": True, "folderPassword": "new"}, FOR_PUBLIC),
    "private and enabled": (LOCKED, {"folderPublic": False, "folderPasswordEnabled": True}, FOR_PUBLIC),
    "enabled without one": (PUBLIC, {"folderPasswordEnabled": True}, NEEDED),
    "enabled with an empty one": (PUBLIC, {"folderPasswordEnabled": True, "folderPassword": ""}, NEEDED),
    "emptied": (LOCKED, {"folderPassword": ""}, NEEDED),
    "public and enabled without one": (PRIVATE, {"folderPublic": True, "folderPasswordEnabled": True}, NEEDED),
    "too long": (LOCKED, {"folderPassword": "x" * 33}, "folderPassword: Has 33 characters; at most 32 are allowed."),
    "an empty name": (PUBLIC, {"folderName": " "}, "folderName: Must not be empty."),
    "a long name": (PUBLIC, {"folderName": "x" * 33}, "folderName: Has 33 characters; at most 32 are allowed."),
    "another field": (PUBLIC, {"folderName": "New", "id": "x"}, "id: Is no field of a folder."),
    "its time": (PUBLIC, {"folderName": "New", "updatedAt": 1}, "updatedAt: Is no field of a folder."),
    "its owner": (PUBLIC, {"folderName": "New", "owner": "x"}, "owner: Is no field of a folder."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_together_is_refused_and_nothing_changes(opal: User, case: str) -> None:
    state, body, sentence = REFUSED[case]
    folder = made(opal, state)
    before = Folder.objects.values().get()
    assert answers.change(folder.pk, body).whole == invalid(sentence)
    assert Folder.objects.values().get() == before


def test_a_body_that_says_nothing_changes_nothing(opal: User) -> None:
    folder = made(opal, LOCKED)
    before = Folder.objects.values().get()
    answer = answers.change(folder.pk, {})
    assert (answer.status, answer.body["folder"]["updatedAt"]) == (200, int(CREATED.timestamp()))
    assert Folder.objects.values().get() == before


def test_a_folder_that_became_private_and_public_again_needs_a_new_password(opal: User) -> None:
    folder = made(opal, LOCKED)
    answers.change(folder.pk, {"folderPublic": False})
    assert answers.change(folder.pk, {"folderPublic": True}).body["folder"]["folderPasswordEnabled"] is False
    assert answers.change(folder.pk, {"folderPasswordEnabled": True}).whole == invalid(NEEDED)


def test_the_name_of_another_folder_is_taken(opal: User) -> None:
    folder = made(opal, PUBLIC)
    FolderFactory(owner=opal, name="Taken")
    FolderFactory(owner=callers.ben(), name="Free")
    assert answers.change(folder.pk, {"folderName": "Taken "}).whole == EXISTS
    assert answers.change(folder.pk, {"folderName": "Free"}).status == 200


def test_a_change_of_the_password_takes_the_old_one_away(opal: User) -> None:
    folder = made(opal, LOCKED)
    assert answers.change(folder.pk, {"folderPassword": "new"}).status == 200
    assert not check_password("old", Folder.objects.get().password_hash)
