"""The folders of the caller: listed, made, shown with their files, taken away."""

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
from imagehost.errors import Unauthorized
from imagehost.folders import folders
from imagehost.folders.folders import Changes
from imagehost.models import File, Folder, FolderRule, State, Usage
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost import answers
from tests.imagehost.answers import EXISTS, NOT_FOUND, OTHER_SECRET, Answer, Json

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


LOCKED = {"folderPublic": True, "folderPasswordEnabled": True, "folderPassword": " sea and sun "}
CREATED: dict[str, tuple[Json, Json]] = {
    "a name is enough": ({"folderName": " Clips\n"}, {}),
    "everything at its default": (
        {"folderName": "Clips", "folderPublic": False, "folderPasswordEnabled": False, "folderPassword": ""},
        {},
    ),
    "with a password": (
        {"folderName": "Clips", **LOCKED},
        {"folderPublic": True, "folderPasswordEnabled": True},
    ),
}


@pytest.mark.parametrize("case", CREATED)
def test_a_folder_is_made_as_the_body_says(opal: User, case: str) -> None:
    body, changes = CREATED[case]
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


NAMELESS: dict[str, Callable[[str], Answer]] = {
    "show": answers.show,
    "change": lambda folder_id: answers.change(folder_id, {"folderName": "x"}),
    "delete": answers.delete,
}


@pytest.mark.parametrize("act", NAMELESS)
def test_the_folder_of_another_user_is_as_one_that_is_not_there(opal: User, act: str) -> None:
    theirs = FolderFactory(owner=answers.ben(), id="abcdef0123456789" * 2, password="x")
    FolderRuleFactory(folder=theirs)
    FileFactory(folder=theirs)
    before = Folder.objects.values().get()
    for folder_id in (theirs.pk, "f" * 32, theirs.pk.upper(), str(uuid.UUID(theirs.pk)), "%FF", "a" * 2000):
        assert NAMELESS[act](folder_id).whole == NOT_FOUND, folder_id
    assert Folder.objects.values().get() == before
    assert File.objects.get().folder == theirs
    assert FolderRule.objects.count() == 1


@pytest.mark.parametrize(
    ("path", "allowed"), [("", {"GET", "HEAD", "POST"}), (f"/{'f' * 32}", {"GET", "HEAD", "PATCH", "DELETE"})]
)
def test_another_method_is_405(opal: User, path: str, allowed: set[str]) -> None:
    answer = answers.call("PUT", f"{answers.FOLDERS}{path}?key={answers.SECRET}")
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
