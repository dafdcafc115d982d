"""Many requests about the same folders at the same moment: no server error, no deadlock, nothing lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db.models import Sum
from django.test import Client
from pytest_django import Settings

from accounts import users
from accounts.models import Permission, User
from imagehost.models import File, Folder, FolderRule, State, Usage
from imagehost.storing import files
from tests.factories.accounts import ApiKeyFactory, StaffFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost import answers, uploading
from tests.imagehost.uploading import headers_of
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

ROUNDS = 2
LOCKED = {"folderPublic": True, "folderPasswordEnabled": True, "folderPassword": "x"}


@pytest.fixture
def opal(db: None, settings: Settings) -> User:
    settings.RATE_LIMITS_ENABLED = False
    opal = answers.opal()
    ApiKeyFactory(owner=opal, secret=uploading.SECRET, permissions=[Permission.IMAGEHOST_UPLOAD.value])
    return opal


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each of them came to; any: it differs."""
    return together(len(acts), lambda number: acts[number]())


def changing(folder: Folder, body: answers.Json) -> Callable[[], int]:
    return lambda: answers.change(folder.pk, body).status


def deleting(folder: Folder) -> Callable[[], int]:
    return lambda: answers.delete(folder.pk).status


def upload() -> int:
    return uploading.post(uploading.form_of(uploading.png()), headers_of("current"), is_alone=False).status


def test_one_of_many_gets_the_name_and_two_that_swap_theirs_do_not_wait_for_each_other(opal: User) -> None:
    statuses = together(4, lambda _: answers.create({"folderName": "Clips"}).status)
    assert Counter(statuses) == {201: 1, 409: 3}
    assert Folder.objects.count() == 1
    one, other = FolderFactory(owner=opal, name="One"), FolderFactory(owner=opal, name="Other")
    for _ in range(ROUNDS):
        found = at_once(changing(one, {"folderName": "Other"}), changing(other, {"folderName": "One"}))
        assert found == [409, 409]


def test_a_folder_that_goes_away_is_changed_or_not_found(opal: User) -> None:
    for _ in range(ROUNDS):
        folder = FolderFactory(owner=opal)
        deleted, *changed = at_once(deleting(folder), *[changing(folder, LOCKED)] * 3)
        assert deleted == 200
        assert set(changed) <= {200, 404}
    assert not Folder.objects.exists()


def test_the_public_flag_and_the_password_never_contradict_each_other(opal: User) -> None:
    folder = FolderFactory(owner=opal, password="x")
    for _ in range(ROUNDS):
        assert set(at_once(*[changing(folder, LOCKED), changing(folder, {"folderPublic": False})] * 2)) == {200}
        folder.refresh_from_db()
        assert folder.is_public == folder.is_password_enabled


def test_a_folder_goes_away_while_its_files_do_and_others_come_and_move(opal: User) -> None:
    other = FolderFactory(owner=opal)
    for _ in range(ROUNDS):
        folder = FolderFactory(owner=opal)
        FolderRuleFactory(folder=folder)
        inside = FileFactory.create_batch(6, folder=folder)

        def delete_files(inside: Sequence[File] = inside) -> list[bool]:
            return [files.delete(file=file, by=opal) for file in inside[:3]]

        def move_files(inside: Sequence[File] = inside, there: Folder = other) -> int:
            return files.move(owner=opal, files=list(reversed(inside[3:])), folder=there)

        found = at_once(deleting(folder), delete_files, move_files, upload, upload)
        assert found == [200, [True] * 3, 3, 200, 200]
    assert answers.gallery().body["total"] == 5 * ROUNDS
    assert File.objects.filter(folder=other).count() == 3 * ROUNDS
    assert File.objects.filter(state=State.READY, folder=None).count() == 2 * ROUNDS
    assert not FolderRule.objects.exists()
    booked = File.objects.booked().aggregate(sum=Sum("size"))["sum"]
    assert Usage.objects.get().used_bytes == booked


def test_the_total_is_that_of_the_page_while_files_come(opal: User) -> None:
    """As long as all files fit on the page, it has as many as it says."""
    folder = FolderFactory(owner=opal)

    def add() -> None:
        for _ in range(10):
            FileFactory(folder=folder, booked=False)

    def look() -> list[tuple[int, int]]:
        pages = [page for _ in range(8) for page in (answers.gallery(), answers.show(folder.pk))]
        return [(len(page.body["files"]), page.body["total"]) for page in pages]

    def look_behind() -> list[tuple[int, int]]:
        pages = [answers.gallery(offset=5) for _ in range(8)]
        return [(len(page.body["files"]) + min(5, page.body["total"]), page.body["total"]) for page in pages]

    found = [pair for pairs in at_once(add, add, add, look, look_behind)[3:] for pair in pairs]
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert answers.gallery().body["total"] == 30


def test_an_account_is_deleted_while_its_folders_are_changed(opal: User) -> None:
    staff = StaffFactory()
    folder = FolderFactory(owner=opal)
    FileFactory.create_batch(5, folder=folder)
    _, *found = at_once(
        lambda: users.delete(user=opal, by=staff, reason="x"),
        lambda: answers.create({"folderName": "New"}).status,
        changing(folder, {"folderName": "Other"}),
        deleting(folder),
    )
    assert set(found) <= {200, 201, 401, 404}
    assert not Folder.objects.exists()
    assert Client().get(answers.GALLERY, {"key": answers.SECRET}).status_code == 401
