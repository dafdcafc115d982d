"""GET /api/imagehost/gallery: all files of the caller, newest first, page by page."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from accounts.models import User
from imagehost import media
from imagehost.errors import InvalidLimit, InvalidOffset
from imagehost.folders.listing import Page
from imagehost.models import File, State
from imagehost.views import api
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers
from tests.imagehost.answers import LIMIT_INVALID, OFFSET_INVALID, OTHER_SECRET
from tests.imagehost.uploading import Answer

MOMENT = datetime(2026, 3, 1, 12, 30, 15, 999_999, tzinfo=UTC)  # of UNIX second 1772368215


def names(answer: Answer) -> list[str]:
    return [file["fileName"] for file in answer.body["files"]]


def test_a_user_without_files_has_an_empty_gallery(opal: User) -> None:
    assert opal.uid == 0
    assert answers.gallery().whole == (200, {"files": [], "total": 0, "limit": 100, "offset": 0})


IN_ROOT = {
    "id": "00000000-0000-0000-0000-000000000001",
    "fileName": "aB3dE6gH",
    "fileExtension": "png",
    "fileOriginal": "Hölidäy 🌊 <1>.final.PNG",
    "fileSize": 2**63 - 1,
    "uploadAt": 1772368215,
    "favorite": False,
    "folder": None,
    "fileWidth": 2**31 - 1,
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
        booked=False,
        id=uuid.UUID(int=1),
        name="aB3dE6gH",
        caption="Only pages show it",
        size=2**63 - 1,
        width=2**31 - 1,
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


def test_the_newest_comes_first_and_ties_break_by_id(opal: User) -> None:
    for number, minutes in enumerate([5, 1, 5, 9]):
        FileFactory(
            owner=opal,
            id=uuid.UUID(int=number + 1),
            name=f"number0{number}",
            uploaded_at=MOMENT - timedelta(minutes=minutes),
        )
    assert names(answers.gallery()) == ["number01", "number02", "number00", "number03"]
    # An index that happens to be read gives the same order; only the statement promises it.
    assert File.objects.newest_first().query.order_by == ("-uploaded_at", "-id")


def test_only_stored_files_of_the_caller_are_listed_quarantined_ones_too(opal: User) -> None:
    shown = FileFactory(owner=opal, quarantined_at=timezone.now())
    FileFactory(owner=opal, state=State.PENDING)
    FileFactory(owner=opal, state=State.DELETED)
    FileFactory(owner=None, state=State.DELETED)
    others = FileFactory(owner=answers.ben())
    assert names(answers.gallery()) == [shown.name]
    assert answers.gallery().body["total"] == 1
    assert names(answers.gallery(OTHER_SECRET)) == [others.name]


def page_of(**query: str | list[str]) -> Page:
    return api.page_of(RequestFactory().get("/", query))


def test_a_page_is_what_was_asked_for() -> None:
    assert page_of() == page_of(limit="100", offset="0") == page_of(unknown=["1", "2"]) == Page(100, 0)
    assert (page_of(limit="1"), page_of(limit="007")) == (Page(1, 0), Page(7, 0))
    for offset in ("0000000000000000000000000002", str(2**53 - 1), str(2**64), "9" * 1000):
        assert page_of(offset=offset) == Page(100, int(offset))


NO_NUMBERS: list[str | list[str]] = [
    *("", "x", "-1", "+1", "1.0", "1e2", " 5", "5\n", "1_0", "null", "\u0663", "\u00b2", "1\x00"),
    ["5", "5"],
]


def test_what_is_no_number_in_plain_digits_and_a_repeated_parameter_are_refused() -> None:
    for value in [*NO_NUMBERS, "0", "000", "101", "1000", "9" * 30]:
        with pytest.raises(InvalidLimit):
            page_of(limit=value)
    for value in [*NO_NUMBERS, "9" * 1001]:
        with pytest.raises(InvalidOffset):
            page_of(offset=value)


@pytest.fixture
def seven(opal: User) -> list[str]:
    """The names of seven files, newest first."""
    return [FileFactory(owner=opal, uploaded_at=MOMENT - timedelta(n)).name for n in range(7)]


def test_a_page_holds_its_part_of_the_files_and_the_total(seven: list[str]) -> None:
    for limit, offset in ((3, 3), (3, 6), (100, 7), (100, 8), (1, 2**63), (1, 10**30)):
        answer = answers.gallery(limit=limit, offset=offset)
        assert names(answer) == seven[offset : offset + limit]
        page = {name: answer.body[name] for name in ("total", "limit", "offset")}
        assert page == {"total": 7, "limit": limit, "offset": offset}
    assert answers.gallery(limit=101).whole == LIMIT_INVALID
    assert answers.gallery(offset="x").whole == OFFSET_INVALID
    assert answers.gallery(limit="x", offset="x").whole == LIMIT_INVALID
    repeated = answers.call("GET", f"{answers.GALLERY}?key={answers.SECRET}&offset=1&offset=1")
    assert repeated.whole == OFFSET_INVALID


def test_a_hundred_files_are_the_most_of_a_page(opal: User) -> None:
    FileFactory.create_batch(103, owner=opal, uploaded_at=MOMENT, booked=False)
    assert (len(answers.gallery().body["files"]), answers.gallery().body["total"]) == (100, 103)
    pages = [answers.gallery(limit=40, offset=offset).body["files"] for offset in (0, 40, 80)]
    assert len({file["id"] for page in pages for file in page}) == 103
