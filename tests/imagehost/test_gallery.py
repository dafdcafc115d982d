"""GET /api/imagehost/gallery: all files of the caller, newest first, page by page."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from imagehost import media
from imagehost.models import State
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers, callers
from tests.imagehost.answers import LIMIT_INVALID, OFFSET_INVALID, OTHER_SECRET

MOMENT = datetime(2026, 3, 1, 12, 30, 15, 999_999, tzinfo=UTC)  # of UNIX second 1772368215


@pytest.fixture
def opal(db: None) -> User:
    return callers.opal()


@pytest.fixture
def ben(opal: User) -> User:
    return callers.ben()


def names(answer: answers.Answer) -> list[str]:
    return [file["fileName"] for file in answer.body["files"]]


def test_a_user_without_files_has_an_empty_gallery(opal: User) -> None:
    assert opal.uid == 0
    assert answers.gallery().whole == (200, {"files": [], "total": 0, "limit": 100, "offset": 0})


IN_ROOT = {
    "id": "00000000-0000-0000-0000-000000000001",
    "fileName": "aB3dE6gH",
    "fileExtension": "png",
    "fileOriginal": "Hölidäy 🌊 <1>.final.PNG",
    "fileSize": 48_213,
    "uploadAt": 1772368215,
    "favorite": False,
    "folder": None,
    "fileWidth": 1920,
    "fileHeight": 1080,
}
IN_FOLDER = {
    "id": "00000000-0000-0000-0000-000000000002",
    "fileName": "clipclip",
    "fileExtension": "mov",
    "fileOriginal": "a.mov",
    "fileSize": 2**40,
    "uploadAt": 1772368200,
    "favorite": True,
    "folder": {
        "id": "b" * 32,
        "folderName": "Clips",
        "folderPublic": True,
        "folderPasswordEnabled": True,
        "createdAt": 1772364615,
        "updatedAt": 1772368155,
    },
    "fileWidth": 1,
    "fileHeight": 2,
}


def test_every_field_of_a_file_in_the_root_and_of_one_in_a_folder(opal: User) -> None:
    times = {"created_at": MOMENT - timedelta(hours=1), "updated_at": MOMENT - timedelta(minutes=1)}
    folder = FolderFactory(owner=opal, id="b" * 32, name="Clips", password="x", **times)
    FileFactory(
        owner=opal,
        id=uuid.UUID(int=1),
        name="aB3dE6gH",
        size=48_213,
        width=1920,
        height=1080,
        original_name="Hölidäy 🌊 <1>.final.PNG",
        uploaded_at=MOMENT,
    )
    FileFactory(
        folder=folder,
        id=uuid.UUID(int=2),
        name="clipclip",
        media=media.MOV,
        size=2**40,
        width=1,
        height=2,
        original_name="a.mov",
        is_favorite=True,
        uploaded_at=MOMENT - timedelta(seconds=15),
    )
    answer = answers.gallery()
    assert answer.whole == (200, {"files": [IN_ROOT, IN_FOLDER], "total": 2, "limit": 100, "offset": 0})
    assert "password_hash" not in answer.text
    assert "argon2" not in answer.text


def test_the_newest_comes_first_and_ties_break_by_id(opal: User) -> None:
    for number, minutes in enumerate([5, 1, 5, 9]):
        FileFactory(
            owner=opal,
            id=uuid.UUID(int=number + 1),
            name=f"number0{number}",
            uploaded_at=MOMENT - timedelta(minutes=minutes),
        )
    assert names(answers.gallery()) == ["number01", "number02", "number00", "number03"]


def test_only_stored_files_of_the_caller_are_listed_quarantined_ones_too(opal: User, ben: User) -> None:
    shown = FileFactory(owner=opal, quarantined_at=timezone.now())
    FileFactory(owner=opal, state=State.PENDING)
    FileFactory(owner=opal, state=State.DELETED)
    FileFactory(owner=None, state=State.DELETED)
    others = FileFactory(owner=ben)
    assert names(answers.gallery()) == [shown.name]
    assert answers.gallery().body["total"] == 1
    assert names(answers.gallery(OTHER_SECRET)) == [others.name]


@pytest.fixture
def seven(opal: User) -> list[str]:
    """The names of seven files, newest first."""
    return [FileFactory(owner=opal, uploaded_at=MOMENT - timedelta(n)).name for n in range(7)]


@pytest.mark.parametrize(
    ("query", "limit", "offset", "first", "end"),
    [
        ({}, 100, 0, 0, 7),
        ({"limit": "1"}, 1, 0, 0, 1),
        ({"limit": "100"}, 100, 0, 0, 7),
        ({"limit": "3", "offset": "3"}, 3, 3, 3, 6),
        ({"limit": "3", "offset": "6"}, 3, 6, 6, 7),
        ({"limit": "007"}, 7, 0, 0, 7),
        ({"offset": "7"}, 100, 7, 7, 7),
        ({"offset": "8"}, 100, 8, 7, 7),
        ({"offset": "0000000000000000000000000002"}, 100, 2, 2, 7),
        ({"offset": str(2**31)}, 100, 2**31, 7, 7),
        ({"offset": str(2**53 - 1)}, 100, 2**53 - 1, 7, 7),
        ({"offset": str(2**53)}, 100, 2**53 - 1, 7, 7),
        ({"offset": str(2**63)}, 100, 2**53 - 1, 7, 7),
        ({"offset": str(10**30)}, 100, 2**53 - 1, 7, 7),
        ({"offset": "9" * 5000}, 100, 2**53 - 1, 7, 7),
    ],
)
def test_a_page_is_what_was_asked_for(
    seven: list[str], query: dict[str, str], limit: int, offset: int, first: int, end: int
) -> None:
    answer = answers.gallery(**query)
    assert names(answer) == seven[first:end]
    assert (answer.status, answer.body["total"]) == (200, 7)
    assert (answer.body["limit"], answer.body["offset"]) == (limit, offset)


def test_a_hundred_files_are_the_most_of_a_page(opal: User) -> None:
    _many(opal, 103)
    assert (len(answers.gallery().body["files"]), answers.gallery().body["total"]) == (100, 103)
    assert len(answers.gallery(offset=100).body["files"]) == 3
    pages = [answers.gallery(limit=40, offset=offset).body["files"] for offset in (0, 40, 80)]
    assert len({file["id"] for page in pages for file in page}) == 103


def _many(owner: User, count: int) -> None:
    """Files of one moment, whose order is that of their ids."""
    FileFactory.create_batch(count, owner=owner, uploaded_at=MOMENT)


NO_NUMBERS = [
    *("", " ", "x", "-1", "+1", "1.0", "1.5", "1e2", "0x10", " 5", "5 ", "5\n", "1,5", "1_0", "null", "None", "NaN"),
    *("\u0663", "\uff15", "\u00b2", "\x00", "1\x00", "½", "🌱", "1;DROP TABLE imagehost_file", "%", "true"),
]


@pytest.mark.parametrize("value", [*NO_NUMBERS, "0", "000", "101", "1000", "9" * 30, "-5"])
def test_a_limit_that_is_none_is_refused(opal: User, value: str) -> None:
    assert answers.gallery(limit=value).whole == LIMIT_INVALID


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_an_offset_that_is_none_is_refused(opal: User, value: str) -> None:
    assert answers.gallery(offset=value).whole == OFFSET_INVALID


def test_the_limit_is_looked_at_first_and_of_two_the_last_holds(seven: list[str]) -> None:
    assert answers.gallery(limit="x", offset="x").whole == LIMIT_INVALID
    path = f"{answers.GALLERY}?key={answers.SECRET}&limit=x&limit=2&offset=9&offset=1"
    assert names(answers.call("GET", path, "gallery")) == seven[1:3]


def test_a_head_request_has_the_headers_of_the_answer_and_no_body(seven: list[str]) -> None:
    path = f"{answers.GALLERY}?key={answers.SECRET}"
    whole, head = Client().get(path), Client().head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(whole.content))


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_another_method_is_405(opal: User, method: str) -> None:
    answer = answers.call(method, f"{answers.GALLERY}?key={answers.SECRET}", "gallery")
    assert answer.whole == (405, {"error": "errors.methodNotAllowed"})
    assert answer.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", [f"{answers.GALLERY}/", f"{answers.GALLERY}/x", "/api/imagehost", "/api/imagehost/"])
def test_a_path_beside_it_is_no_endpoint(opal: User, path: str) -> None:
    answer = answers.call("GET", f"{path}?key={answers.SECRET}", "gallery")
    assert answer.whole == (404, {"error": "errors.notFound"})


def test_every_number_that_is_shown_may_be_the_largest_of_its_column(opal: User) -> None:
    FileFactory(owner=opal, booked=False, size=2**63 - 1, width=2**31 - 1, height=2**31 - 1)
    file = answers.gallery().body["files"][0]
    assert (file["fileSize"], file["fileWidth"], file["fileHeight"]) == (2**63 - 1, 2**31 - 1, 2**31 - 1)
