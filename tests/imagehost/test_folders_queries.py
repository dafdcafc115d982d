"""Which statements each request costs, and that they walk along indexes. More of them need a reason here.

With Redis the key is in its cache, and costs no statement; without, it is read at each request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts import key_uses
from accounts.models import User
from imagehost import listing
from imagehost.listing import Page
from imagehost.models import File, Folder, State
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost import answers, callers
from tests.lookup import statements
from tests.lookup.statements import Statement

KEY = [] if settings.REDIS_URL else ["SELECT accounts_apikey"]  # who asks
FILE, FOLDER, OWNER = "SELECT imagehost_file", "SELECT imagehost_folder", "SELECT accounts_user"


@pytest.fixture
def opal(db: None, settings: Settings) -> User:
    """Her key has been used before, as at nearly every request."""
    settings.RATE_LIMITS_ENABLED = False
    opal = callers.opal()
    key_uses.last_uses.clear()
    assert answers.folders().status == 200
    return opal


def asked(act: Callable[[], answers.Answer], status: int = 200) -> list[str]:
    """The names of the statements, those of transactions aside."""

    def answered() -> None:
        assert act().status == status

    return [name for name in statements.names(answered) if " " in name]


@pytest.mark.parametrize("count", [1, 10])
def test_the_gallery_is_the_key_and_one_statement(opal: User, count: int) -> None:
    for folder in FolderFactory.create_batch(count, owner=opal):
        FileFactory(folder=folder)
    assert asked(answers.gallery) == [*KEY, FILE]  # files with their folders, and how many there are
    assert len(answers.gallery().body["files"]) == count


@pytest.mark.parametrize("count", [1, 10])
def test_the_list_of_folders_is_the_key_and_one_statement(opal: User, count: int) -> None:
    for folder in FolderFactory.create_batch(count, owner=opal):
        FileFactory.create_batch(2, folder=folder)
    assert asked(answers.folders) == [*KEY, FOLDER]  # folders, with what is in them added up
    assert len(answers.folders().body["folders"]) == count


@pytest.mark.parametrize("count", [1, 10])
def test_a_folder_is_the_key_and_two_statements(opal: User, count: int) -> None:
    folder = FolderFactory(owner=opal)
    FileFactory.create_batch(count, folder=folder)
    assert asked(lambda: answers.show(folder.pk)) == [*KEY, FOLDER, FILE]  # whose it is; files, and how many there are


def test_an_empty_page_is_counted_again_only_where_it_is_not_the_first_one(opal: User) -> None:
    folder = FolderFactory(owner=opal)
    assert asked(answers.gallery) == [*KEY, FILE]
    assert asked(lambda: answers.gallery(offset=1)) == [*KEY, FILE, FILE]
    assert asked(lambda: answers.show(folder.pk)) == [*KEY, FOLDER, FILE]
    assert asked(lambda: answers.show(folder.pk, offset=1)) == [*KEY, FOLDER, FILE, FILE]


def test_what_is_refused_costs_no_more_than_the_key(opal: User) -> None:
    folder = FolderFactory(owner=opal)
    for act in (
        lambda: answers.gallery(limit=0),
        lambda: answers.show(folder.pk, offset="x"),
        lambda: answers.create({}),
        lambda: answers.change(folder.pk, {"folderName": ""}),
    ):
        assert asked(act, 400) == KEY


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


ACTS: dict[str, tuple[Callable[[str], answers.Answer], list[str]]] = {
    "show": (answers.show, [FOLDER]),
    "change": (lambda folder_id: answers.change(folder_id, {"folderName": "x"}), [OWNER, FOLDER]),
    "delete": (answers.delete, [OWNER, FOLDER]),
}


@pytest.mark.parametrize("act", ACTS)
def test_nobody_can_tell_somebody_elses_folder_from_one_that_is_not_there(opal: User, act: str) -> None:
    """The same body, and the same statements."""
    call, expected = ACTS[act]
    theirs = FolderFactory(id="c" * 32)
    FileFactory(folder=theirs)
    answered = {call(folder_id).text for folder_id in (theirs.pk, "d" * 32, "x")}
    assert len(answered) == 1
    for folder_id in (theirs.pk, "d" * 32, "x"):
        found = statements.of(lambda folder_id=folder_id: call(folder_id))  # type: ignore[misc]  # bound early
        assert [one.name for one in found if " " in one.name] == [*KEY, *expected]


# --- Plans ---

OWNERS, EACH, FOLDERS_EACH = 40, 250, 10


@pytest.fixture
def many(opal: User) -> Folder:
    """Files of many people, every tenth in each folder, and one of Opal's folders."""
    owners = [opal, *UserFactory.create_batch(OWNERS - 1, email="")]
    folders = Folder.objects.bulk_create(
        Folder(owner=owner, name=f"n{n}") for owner in owners for n in range(FOLDERS_EACH)
    )
    now = timezone.now()
    File.objects.bulk_create(
        _row(owner, folders[place * FOLDERS_EACH + n % FOLDERS_EACH], n, now - timedelta(minutes=n), place)
        for place, owner in enumerate(owners)
        for n in range(EACH)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return folders[0]


def _row(owner: User, folder: Folder, number: int, uploaded_at: Any, place: int) -> File:
    """Any: a moment."""
    name = f"{place:04d}{number:04d}"
    return File(
        owner=owner,
        folder=folder,
        name=name,
        key=name,
        extension="png",
        mime="image/png",
        size=1000,
        width=1,
        height=1,
        original_name="x.png",
        state=State.READY,
        uploaded_at=uploaded_at,
    )


def _steps(statement: Statement) -> list[str]:
    """Of its plan: of PostgreSQL each node with its table and index, of SQLite its own words."""
    prefix = "EXPLAIN (FORMAT JSON) " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
    with connection.cursor() as cursor:
        cursor.execute(prefix + statement.sql, statement.values)
        found = cursor.fetchall()
    if connection.vendor == "sqlite":
        return [line[-1] for line in found]
    plan = json.loads(found[0][0]) if isinstance(found[0][0], str) else found[0][0]
    return [" ".join(str(node.get(key, "")) for key in _TOLD) for node in _nodes(plan[0]["Plan"])]


_TOLD = ("Node Type", "Relation Name", "Index Name")


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Any: JSON."""
    yield node
    for inner in node.get("Plans", []):
        yield from _nodes(inner)


def _walks(act: Callable[[], object], *indexes: str) -> list[list[str]]:
    """The plans of what is asked: each reads files by indexes alone, and every index that is named is used."""
    plans = [_steps(one) for one in statements.of(act)]
    steps = [step for plan in plans for step in plan]
    assert [step for step in steps if "Seq Scan imagehost_file" in step or step.startswith("SCAN imagehost_file")] == []
    for index in indexes:
        assert any(index in step for step in steps), (index, steps)
    return plans


def test_the_gallery_walks_its_index_in_the_shown_order(many: Folder) -> None:
    def first() -> None:
        assert len(listing.gallery(owner_id=many.owner_id, page=Page(20)).files) == 20

    [plan] = _walks(first, "imagehost_file_gallery")
    assert [step for step in plan if "Sort" in step or "TEMP B-TREE" in step] == []


def test_a_folder_walks_its_index_in_the_shown_order(many: Folder) -> None:
    def first() -> None:
        _, found = listing.folder_with_files(owner_id=many.owner_id, folder_id=many.pk, page=Page(5))
        assert (len(found.files), found.total) == (5, EACH // FOLDERS_EACH)

    [_, plan] = _walks(first, "imagehost_file_in_folder")
    assert [step for step in plan if "TEMP B-TREE" in step] == []


def test_the_list_of_folders_reads_the_files_of_the_owner_alone(many: Folder) -> None:
    def whole() -> None:
        found = listing.folders(owner_id=many.owner_id)
        assert [folder.file_count for folder in found] == [EACH // FOLDERS_EACH] * FOLDERS_EACH

    _walks(whole, "imagehost_file_in_folder")
