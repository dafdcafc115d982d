"""Views and downloads of a file by day: who counts, that it costs no query, and that nothing of a visitor is kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from imagehost import media
from imagehost.models import File, FileDay
from imagehost.storing import daily_counts, files
from imagehost.storing.daily_counts import Counts, Note
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import uploading
from tests.imagehost.public_pages import PREVIEW, signed_in, silent_store, stored
from tests.lookup import statements
from tests.lookup.visiting import BROWSER, NOON
from tests.support.threads import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

TODAY = NOON.date()
PERSON = {"User-Agent": BROWSER}


@pytest.fixture(autouse=True)
def _nothing_noted() -> Iterator[None]:
    daily_counts.buffer.clear()
    yield
    daily_counts.buffer.clear()


def counted(file: File) -> Counts | None:
    """The file's counts of today."""
    daily_counts.buffer.write()
    return daily_counts.by_day(file, TODAY).get(TODAY)


VIEWS: list[tuple[str, str, dict[str, str], int]] = [
    ("a person", "GET", {}, 1),
    ("a person who follows a link", "GET", {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"}, 1),
    ("a robot", "GET", {"User-Agent": "Googlebot/2.1"}, 0),
    ("no user agent", "GET", {"User-Agent": ""}, 0),
    ("a page loaded ahead", "GET", {"Sec-Purpose": "prefetch"}, 0),
    ("a picture of a page", "GET", {"Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors"}, 0),
    ("HEAD", "HEAD", {}, 0),
]


@pytest.mark.parametrize(("who", "method", "headers", "count"), VIEWS, ids=[row[0] for row in VIEWS])
def test_visits_of_the_page_are_views_and_of_the_file_downloads(
    who: str, method: str, headers: dict[str, str], count: int
) -> None:
    file = stored()
    sent = {**PERSON, **headers}
    assert Client().generic(method, f"/files/{file.name}", headers=sent).status_code == 200
    assert counted(file) == (Counts(1, 0) if count else None)
    for query in ("", "?download=1"):
        assert uploading.get(f"/media/{file.file_name}{query}", method, sent).status == 200
    assert counted(file) == (Counts(1, 2) if count else None)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Range": "bytes=5-"}, 206),
        ({"Range": "bytes=0-"}, 206),
        ({"Range": "bytes=99999-"}, 416),
        ({"If-None-Match": "*"}, 304),
        ({"If-Modified-Since": "Fri, 01 May 2099 12:00:00 GMT"}, 304),
        ({"If-Match": '"another"'}, 412),
    ],
)
def test_what_sends_no_whole_file_is_no_download(headers: dict[str, str], status: int) -> None:
    file = stored(preview=PREVIEW)
    assert uploading.get(f"/media/{file.file_name}", "GET", {**PERSON, **headers}).status == status
    assert Client().get(f"/files/{file.name}/preview.webp", headers=PERSON).status_code == 200
    assert uploading.get("/media/AAAAAAAA.png", "GET", PERSON).status == 404
    assert counted(file) is None


@pytest.mark.parametrize("way", ["accel", "redirect"])
def test_a_download_that_another_server_sends_counts_by_its_request(way: str, settings: Settings) -> None:
    settings.FILE_DELIVERY = way
    silent_store(settings)
    file = FileFactory(media=media.MP4)
    for headers in ({}, {"Range": "bytes=0-"}, {"If-None-Match": '"x"'}):
        uploading.get(f"/media/{file.file_name}", "GET", {**PERSON, **headers})
    assert counted(file) == Counts(0, 1)


def test_the_owner_is_no_visitor_and_a_page_behind_a_password_is_none() -> None:
    ada = UserFactory()
    file = FileFactory(owner=ada)
    locked = FileFactory(folder=FolderFactory(owner=ada, password="open sesame"))
    assert signed_in(ada).get(f"/files/{file.name}", headers=PERSON).status_code == 200
    assert Client().get(f"/files/{locked.name}", headers=PERSON).status_code == 403
    assert (counted(file), counted(locked)) == (None, None)
    assert signed_in(UserFactory()).get(f"/files/{file.name}", headers=PERSON).status_code == 200
    assert counted(file) == Counts(1, 0)


@pytest.mark.embedded
def test_counting_costs_the_request_no_query() -> None:
    file = stored()
    for ask in (
        lambda: Client().get(f"/files/{file.name}", headers=PERSON),
        lambda: uploading.get(f"/media/{file.file_name}", "GET", PERSON),
    ):
        assert statements.names(ask) == ["SELECT imagehost_file"]
    assert statements.names(daily_counts.buffer.write) == ["INSERT imagehost_fileday"]
    assert daily_counts.by_day(file, TODAY) == {TODAY: Counts(1, 1)}


def test_only_the_day_and_numbers_are_kept() -> None:
    file = FileFactory()
    visitor = Client(REMOTE_ADDR="203.0.113.77")
    visitor.get(f"/files/{file.name}", headers={**PERSON, "Referer": "https://news.example/"})
    assert [*daily_counts.buffer._notes] == [Note(file.pk.hex, TODAY, 1, 0)]
    daily_counts.buffer.write()
    assert [*FileDay.objects.values("file", "day", "views", "downloads")] == [
        {"file": file.pk, "day": TODAY, "views": 1, "downloads": 0}
    ]
    assert {field.name for field in FileDay._meta.fields} == {"id", "file", "day", "views", "downloads"}


def test_days_are_apart_and_a_deleted_file_takes_its_days_with_it(clock: time_machine.Traveller, user: User) -> None:
    file, gone = stored(owner=user), stored(owner=user)
    for each in (file, gone):
        Client().get(f"/files/{each.name}", headers=PERSON)
    daily_counts.buffer.write()
    clock.shift(timedelta(days=1))
    for each in (file, gone):
        Client().get(f"/files/{each.name}", headers=PERSON)
    files.delete(file=gone, by=user)
    assert files.finish_deletion(gone)
    daily_counts.buffer.write()
    assert daily_counts.by_day(file, TODAY) == {TODAY: Counts(1, 0), TODAY + timedelta(days=1): Counts(1, 0)}
    assert daily_counts.totals([file, gone]) == {file.pk: Counts(2, 0)}
    assert FileDay.objects.count() == 2


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_processes_that_write_at_once_add_up(user: User) -> None:
    some = [FileFactory(owner=user) for _ in range(5)]
    notes = [Note(file.pk.hex, TODAY, 1, 2) for file in some] * 20
    together(4, lambda number: daily_counts._store(notes[:: 1 if number % 2 else -1]))
    assert daily_counts.totals(some) == {file.pk: Counts(80, 160) for file in some}
    assert FileDay.objects.count() == 5
