"""Which statements each request costs, and that they walk along indexes. More of them need a reason here.

With Redis the key is in its cache, and costs no statement; without, it is read at each request.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from pytest_django import Settings

from accounts.api_keys import uses
from accounts.models import User
from imagehost.folders import listing
from imagehost.folders.listing import Page
from imagehost.models import Folder
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost import answers
from tests.imagehost.plans import plan_of
from tests.imagehost.uploading import Answer
from tests.lookup import statements

KEY = [] if settings.REDIS_URL else ["SELECT accounts_apikey"]  # who asks
pytestmark = pytest.mark.django_db
FILE, FOLDER, OWNER = "SELECT imagehost_file", "SELECT imagehost_folder", "SELECT accounts_user"


@pytest.fixture
def opal(db: None, settings: Settings) -> User:
    """Her key has been used before, as at nearly every request."""
    settings.RATE_LIMITS_ENABLED = False
    opal = answers.opal()
    uses.buffer.clear()
    assert answers.folders().status == 200
    return opal


def asked(act: Callable[[], Answer], status: int = 200) -> list[str]:
    """The names of the statements, those of transactions aside."""

    def answered() -> None:
        assert act().status == status

    return [name for name in statements.names(answered) if " " in name]


@pytest.mark.embedded
@pytest.mark.parametrize("count", [1, 10])
def test_a_list_is_the_key_and_one_statement_and_a_folder_two(opal: User, count: int) -> None:
    for folder in FolderFactory.create_batch(count, owner=opal):
        FileFactory(folder=folder)
    assert asked(answers.gallery) == [*KEY, FILE]  # files with their folders, and how many there are
    assert asked(answers.folders) == [*KEY, FOLDER]  # folders, with what is in them added up
    FileFactory.create_batch(count, folder=folder)
    assert asked(lambda: answers.show(folder.pk)) == [*KEY, FOLDER, FILE]  # whose it is; files, and how many there are


def test_an_empty_page_is_counted_again_only_where_it_is_not_the_first_one(opal: User) -> None:
    folder = FolderFactory(owner=opal)
    assert asked(answers.gallery) == [*KEY, FILE]
    assert asked(lambda: answers.gallery(offset=1)) == [*KEY, FILE, FILE]
    assert asked(lambda: answers.show(folder.pk)) == [*KEY, FOLDER, FILE]
    assert asked(lambda: answers.show(folder.pk, offset=1)) == [*KEY, FOLDER, FILE, FILE]


@pytest.mark.embedded
@pytest.mark.parametrize("count", [1, 10])
def test_writes_cost_the_same_however_much_there_is(opal: User, count: int) -> None:
    folder = FolderFactory(owner=opal)
    FolderFactory.create_batch(count, owner=opal)
    FileFactory.create_batch(count, folder=folder)
    for _ in range(count):
        FolderRuleFactory(folder=folder)
    # The owner is locked, the folders are counted; the folder is written, and read with what is in it.
    assert asked(lambda: answers.create({"folderName": "New"}), 201) == [
        *(*KEY, OWNER, FOLDER, "INSERT imagehost_folder", FOLDER)
    ]
    # The owner and the folder are locked.
    assert asked(lambda: answers.change(folder.pk, {"folderPublic": True})) == [
        *(*KEY, OWNER, FOLDER, "UPDATE imagehost_folder", FOLDER)
    ]
    # The same; its files move to the root, its rules go.
    assert asked(lambda: answers.delete(folder.pk)) == [
        *(*KEY, OWNER, FOLDER, "DELETE imagehost_folderrule", "UPDATE imagehost_file", "DELETE imagehost_folder")
    ]


# --- Plans ---


@pytest.fixture
def folder(db: None) -> Folder:
    """With ten files, beside ten of its owner's in the root and ten of another user."""
    folder: Folder = FolderFactory()
    for values in ({"folder": folder}, {"owner": folder.owner}, {"owner": UserFactory()}):
        FileFactory.create_batch(10, booked=False, **values)
    return folder


def plan_of_files(act: Callable[[], object]) -> str:
    plan = plan_of(act)
    assert "Seq Scan on imagehost_file" not in plan
    assert "SCAN imagehost_file" not in plan
    return plan


@pytest.mark.embedded
def test_the_gallery_is_read_along_its_index_in_the_shown_order(folder: Folder) -> None:
    plan = plan_of_files(lambda: listing.gallery(owner_id=folder.owner_id, page=Page(5)))
    assert "imagehost_file_gallery" in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


def test_a_folder_and_the_list_of_folders_are_read_along_the_index_of_folders(folder: Folder) -> None:
    owner_id, page = folder.owner_id, Page(5)
    shown = plan_of_files(lambda: listing.folder_with_files(owner_id=owner_id, folder_id=folder.pk, page=page))
    assert "imagehost_file_in_folder" in shown
    assert "imagehost_file_in_folder" in plan_of_files(lambda: list(listing.folders(owner_id=owner_id)))
