"""GET /folders/{id}/files.zip: what is in it, how it is called, and what may go wrong on the way."""

from __future__ import annotations

import datetime as dt
import io
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import rate_limits
from imagehost import media, names
from imagehost.folders import archives
from imagehost.models import File, Folder
from imagehost.storing import storage
from imagehost.storing.storage import StorageFailed
from tests.factories.imagehost import FolderFactory
from tests.imagehost.public_pages import stored
from tests.lookup import statements

pytestmark = pytest.mark.django_db

MOMENT = dt.datetime(2026, 3, 5, 12, 30, 7, tzinfo=dt.UTC)


@pytest.fixture
def folder() -> Folder:
    return FolderFactory(name="Holidays", is_public=True)


def dated(folder: Folder, count: int) -> list[File]:
    """Files 0.png, 1.png and so on, of a day each, the newest first; 300 bytes of their number."""
    return [
        stored(
            folder=folder,
            original_name=f"{number}.png",
            content=bytes([number]) * 300,
            uploaded_at=MOMENT - dt.timedelta(days=number),
        )
        for number in range(count)
    ]


def archive_of(response: Any) -> ZipFile:
    """`response`: of the test client, streaming."""
    assert response.status_code == 200
    return ZipFile(io.BytesIO(b"".join(response.streaming_content)))


def test_the_archive_holds_every_file_as_it_is_stored(client: Client, folder: Folder) -> None:
    stored(folder=folder, original_name="beach.png", content=b"sand" * 100_000, uploaded_at=MOMENT)
    earlier = MOMENT - dt.timedelta(days=1)
    stored(folder=folder, original_name="waves.mov", media=media.MOV, content=b"water", uploaded_at=earlier)
    stored(original_name="elsewhere.png")
    response = client.get(f"/folders/{folder.pk}/files.zip")
    expected = {
        "Content-Type": "application/zip",
        "Content-Disposition": "attachment; filename=\"Holidays.zip\"; filename*=UTF-8''Holidays.zip",
        "Cache-Control": "private, no-store",
        "X-Robots-Tag": "noindex",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    assert {name: response.headers.get(name) for name in expected} == expected
    assert "Content-Length" not in response.headers
    archive = archive_of(response)
    assert archive.testzip() is None
    found = [(entry.filename, entry.date_time, entry.compress_type) for entry in archive.infolist()]
    assert found == [
        ("beach.png", (2026, 3, 5, 12, 30, 6), zipfile.ZIP_STORED),  # the format counts every other second
        ("waves.mov", (2026, 3, 4, 12, 30, 6), zipfile.ZIP_STORED),
    ]
    assert archive.read("beach.png") == b"sand" * 100_000
    assert archive.read("waves.mov") == b"water"
    assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o100644}


def test_the_newest_files_are_taken_where_there_are_too_many(
    client: Client, folder: Folder, settings: Settings
) -> None:
    settings.MAX_FILES_IN_ARCHIVE = 2
    dated(folder, 3)
    assert archive_of(client.get(f"/folders/{folder.pk}/files.zip")).namelist() == ["0.png", "1.png"]


@pytest.mark.embedded
@pytest.mark.parametrize("amount", [1, 10])
def test_the_archive_takes_two_queries_and_none_while_it_is_sent(client: Client, folder: Folder, amount: int) -> None:
    for _ in range(amount):
        stored(folder=folder)
    sent: list[Any] = []
    asked = statements.names(lambda: sent.append(client.get(f"/folders/{folder.pk}/files.zip")))
    assert asked == ["SELECT imagehost_folder", "SELECT imagehost_file"]
    assert statements.names(lambda: archive_of(sent[0])) == []


def test_a_date_that_the_format_cannot_say_is_the_first_one_that_it_can(client: Client, folder: Folder) -> None:
    stored(folder=folder, uploaded_at=dt.datetime(1979, 12, 31, 23, 59, 59, tzinfo=dt.UTC))
    [entry] = archive_of(client.get(f"/folders/{folder.pk}/files.zip")).infolist()
    assert entry.date_time == (1980, 1, 1, 0, 0, 0)
    head: Any = client.head(f"/folders/{folder.pk}/files.zip")  # gets the headers alone
    assert (head.status_code, head.headers["Content-Type"]) == (200, "application/zip")
    assert ("Content-Length" in head.headers, b"".join(head.streaming_content)) == (False, b"")


def test_a_file_that_goes_meanwhile_is_left_out(client: Client, folder: Folder) -> None:
    files = dated(folder, 3)
    pieces = iter(client.get(f"/folders/{folder.pk}/files.zip"))
    first = next(pieces)
    storage.bucket().remove(files[1].key)
    archive = ZipFile(io.BytesIO(first + b"".join(pieces)))
    assert archive.testzip() is None
    assert archive.namelist() == ["0.png", "2.png"]


def test_an_object_that_breaks_off_ends_the_archive_unfinished(client: Client, folder: Folder) -> None:
    stored(folder=folder, content=b"whole", uploaded_at=MOMENT)
    stored(folder=folder, content=b"short", size=6, uploaded_at=MOMENT - dt.timedelta(days=1))
    sent = bytearray()
    with pytest.raises(StorageFailed):
        for piece in client.get(f"/folders/{folder.pk}/files.zip"):
            sent += piece
    assert b"whole" in sent
    assert zipfile.is_zipfile(io.BytesIO(sent)) is False


def test_a_reader_who_leaves_leaves_no_file_open(folder: Folder) -> None:
    for _ in range(2):
        stored(folder=folder, content=b"x" * 1_000_000)
    before = len(list(Path("/proc/self/fd").iterdir()))
    pieces = archives.Archive(list(folder.files.all()))
    next(pieces)
    assert len(list(Path("/proc/self/fd").iterdir())) == before + 1
    pieces.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_address_gets_a_few_archives_a_minute(client: Client, folder: Folder) -> None:
    url = f"/folders/{folder.pk}/files.zip"
    for _ in range(rate_limits.ARCHIVES.amount):
        assert archive_of(client.get(url)).namelist() == []
    refused = client.get(url)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert client.head(url).status_code == 200
    assert archive_of(client.get(url, REMOTE_ADDR="203.0.113.9")).namelist() == []


def test_archives_leave_threads_for_everybody_else(client: Client, folder: Folder) -> None:
    """Readers who take their time keep a thread each; the first to leave makes room."""
    url = f"/folders/{folder.pk}/files.zip"
    slow = [client.get(url, REMOTE_ADDR=f"203.0.113.{number}") for number in range(archives.AT_ONCE)]
    refused = client.get(url)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "10")
    for response in slow:
        assert archive_of(response).namelist() == []
    assert archive_of(client.get(url)).namelist() == []


def test_no_more_than_a_few_pieces_are_in_memory_at_once(folder: Folder) -> None:
    for _ in range(2):
        stored(folder=folder, content=b"x" * 5_000_000)
    files = list(folder.files.all())
    tracemalloc.start()
    try:
        size = sum(map(len, archives.Archive(files)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 10_000_000
    assert peak < 2_000_000


@pytest.mark.parametrize("limit", [100, 500])
def test_an_archive_too_large_for_the_old_format_is_zip64(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """4 GiB take a while: here the format ends earlier, before the first file and between two."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", limit)
    dated(folder, 5)
    archive = ZipFile(io.BytesIO(b"".join(archives.Archive(list(folder.files.newest_first())))))
    assert archive.testzip() is None
    assert [archive.read(f"{number}.png") for number in range(5)] == [bytes([number]) * 300 for number in range(5)]
    assert {entry.extract_version for entry in archive.infolist()[2:]} == {zipfile.ZIP64_VERSION}


NAMES = [
    ("holiday.png", "holiday.png"),
    ("photo.jpeg", "photo.png"),  # the stored extension is the right one
    ("Screenshot 2026.03.05", "Screenshot 2026.03.05.png"),
    ("../../etc/passwd.png", "_.._etc_passwd.png"),
    ('a:b*c?d"e<f>g|h.png', "a_b_c_d_e_f_g_h.png"),
    (".htaccess", "htaccess.png"),
    ("~", "Generate.png"),
    ("  spaced  .png", "spaced.png"),
    ("trailing. . .png", "trailing.png"),
    ("line\r\nbreak\x00\x1b[31m\x7f.png", "linebreak[31m.png"),
    ("gnp\u202egnp.exe", "gnpgnp.exe.png"),
    ("CON.png", "_CON.png"),
    ("com1.tar.png", "_com1.tar.png"),
    ("LPT¹.png", "_LPT¹.png"),
    ("e\u0301te\u0301.png", "\u00e9t\u00e9.png"),
    ("\ud800.png", "Generate.png"),
    ("x" * 255, "x" * 180 + ".png"),
    ("\U0001f469" * 100, "\U0001f469" * 45 + ".png"),
]


@pytest.mark.parametrize(("original", "expected"), NAMES, ids=ascii)
def test_a_name_is_fit_to_be_unpacked(original: str, expected: str) -> None:
    (name,) = names.unpacked([(original, "Generate", "png")])
    assert name == expected
    assert len(name.encode()) < 255


@pytest.mark.parametrize(
    ("originals", "expected"),
    [
        (["a.png", "a.png", "a.png"], ["a.png", "a (2).png", "a (3).png"]),
        (["a.png", "A.PNG", "a.jpeg"], ["a.png", "A (2).png", "a (3).png"]),
        (["a (2).png", "a.png", "a.png"], ["a (2).png", "a.png", "a (3).png"]),
        (["a.png", "a.png", "a (2).png"], ["a.png", "a (2).png", "a (2) (2).png"]),
        (["\u00e9.png", "e\u0301.png"], ["\u00e9.png", "\u00e9 (2).png"]),
        (["Stra\u00dfe", "STRASSE"], ["Stra\u00dfe.png", "STRASSE (2).png"]),
        (["../a", "..\\a"], ["_a.png", "_a (2).png"]),
    ],
)
def test_no_two_names_are_the_same(originals: list[str], expected: list[str]) -> None:
    assert list(names.unpacked([(name, "Generate", "png") for name in originals])) == expected
