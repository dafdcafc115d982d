"""A file that expires: then it is gone everywhere, caches and links end with it, and the sweep deletes it."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from imagehost.folders import listing
from imagehost.models import File, State
from imagehost.storing import files, quotas, sweeping
from imagehost.storing.storage import StorageFailed
from imagehost.storing.sweeping import CLOCKS, Swept
from tests.dashboard.imagehost.reading import messages_of, text_of
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers, objects, uploading
from tests.imagehost.objects import FaultyStorage
from tests.imagehost.plans import plan_of
from tests.imagehost.public_pages import PREVIEW, signed_in, silent_store, stored
from tests.lookup import statements
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("clock")]

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
HOME = "/dashboard/imagehost/"


def sweep() -> Swept:
    now = datetime.now(UTC)
    return sweeping.sweep(now=now, until=now + HOUR)


def test_from_then_on_it_is_nowhere(opal: User, clock: time_machine.Traveller) -> None:
    folder = FolderFactory(owner=opal, is_public=True)
    file = stored(folder=folder, preview=PREVIEW, expires_at=NOON + HOUR)
    stored(folder=folder, name="Stays123", size=5, content=b"stays")
    paths = [f"/media/{file.file_name}", f"/files/{file.name}", f"/files/{file.name}/preview.webp"]
    paths.append(f"/folders/{folder.pk}/previews/{file.name}.webp")
    owner = signed_in(opal)

    def seen() -> list[object]:
        shown, counted = answers.show(folder.pk).body, answers.folders().body["folders"][0]
        answer: Any = Client().get(f"/folders/{folder.pk}/files.zip")  # it has no public type
        archive = b"".join(answer.streaming_content)
        return [
            [uploading.get(path).status for path in paths],
            [uploading.get(paths[0], "HEAD").status, uploading.get(paths[0], "GET", {"Range": "bytes=0-1"}).status],
            uploading.get(paths[0], "GET", {"If-None-Match": f'"{file.pk.hex}"'}).status,
            (len(shown["files"]), shown["total"], answers.gallery().body["total"]),
            (counted["fileCount"], counted["totalSize"]),
            len(zipfile.ZipFile(io.BytesIO(archive)).namelist()),
            f"{file.name}" in Client().get(f"/folders/{folder.pk}").content.decode(),
            f"/files/{file.name}" in owner.get(HOME).content.decode(),
            owner.get(f"{HOME}files/{file.name}/").status_code,
            listing.named(owner_id=opal.pk, names=[file.name]) == [],
        ]

    clock.move_to(NOON + HOUR - SECOND)
    assert seen() == [[200] * 4, [200, 206], 304, (2, 2, 2), (2, file.size + 5), 2, True, True, 200, False]
    clock.move_to(NOON + HOUR)
    assert seen() == [[404] * 4, [404, 404], 404, (1, 1, 1), (1, 5), 1, False, False, 404, True]


@pytest.mark.parametrize(
    ("left", "caching", "preview"),
    [
        (None, "public, max-age=31536000, immutable", "public, max-age=3600"),
        (400 * DAY, "public, max-age=31536000", "public, max-age=3600"),
        (2 * DAY, "public, max-age=172800", "public, max-age=3600"),
        (timedelta(seconds=90.9), "public, max-age=90", "public, max-age=90"),
        (timedelta(seconds=0.5), "public, max-age=0", "public, max-age=0"),
    ],
)
@pytest.mark.parametrize("way", ["app", "accel"])
def test_caches_end_with_it(left: timedelta | None, caching: str, preview: str, way: str, settings: Settings) -> None:
    settings.FILE_DELIVERY = way
    file = stored(preview=PREVIEW, expires_at=NOON + left if left else None)
    assert uploading.get(f"/media/{file.file_name}").headers["Cache-Control"] == caching
    assert Client().get(f"/files/{file.name}/preview.webp").headers["Cache-Control"] == preview


@pytest.mark.parametrize(("left", "valid", "cached"), [(90, 90, 90), (7200, 3600, 300)])
def test_a_signed_link_ends_with_it(left: int, valid: int, cached: int, settings: Settings) -> None:
    silent_store(settings)
    settings.FILE_DELIVERY = "redirect"
    file = FileFactory(expires_at=NOON + left * SECOND)
    found = uploading.get(f"/media/{file.file_name}")
    assert (found.status, found.headers["Cache-Control"]) == (302, f"private, max-age={cached}")
    assert f"X-Amz-Expires={valid}" in found.headers["Location"]
    assert "response-cache-control=private%2C%20no-cache" in found.headers["Location"]


def test_a_link_without_an_end_is_not_given(settings: Settings) -> None:
    """Only the sweep would end it: the service sends the file itself, here from a store that does not answer."""
    silent_store(settings, "https://bucket.example.net")
    settings.FILE_DELIVERY = "redirect"
    assert uploading.get(f"/media/{FileFactory(expires_at=NOON + HOUR).file_name}", "GET").status == 503


def test_the_sweep_deletes_it_once_and_gives_its_bytes_back(clock: time_machine.Traveller) -> None:
    file = FileFactory(expires_at=NOON + HOUR, size=700)
    taken = FileFactory(owner=file.owner, expires_at=NOON + HOUR, quarantined_at=NOON)
    kept = FileFactory(owner=file.owner, size=300)
    objects.put(file, taken, kept)
    clock.move_to(NOON + HOUR + CLOCKS - SECOND)  # another host's clock may be behind
    assert sweep() == Swept()
    clock.move_to(NOON + HOUR + CLOCKS)
    swept = together(2, lambda _: sweep())
    assert sum(each.expired for each in swept) == 2
    assert (list(File.objects.all()), objects.all_keys(), quotas.used(file.owner_id or "")) == ([kept], [kept.key], 300)
    assert sweep() == Swept()


def test_where_the_store_fails_its_bytes_are_given_back_and_the_row_stays(bucket: FaultyStorage) -> None:
    file = FileFactory(expires_at=NOON - HOUR)
    objects.put(file)
    bucket.faults["remove"] = StorageFailed
    assert sweep() == Swept(expired=1, failed=1)
    file.refresh_from_db()
    assert (file.state, quotas.used(file.owner_id or "")) == (State.DELETED, 0)


def test_a_longer_life_races_with_the_sweep_and_one_wins(user: User) -> None:
    file = FileFactory(owner=user, expires_at=NOON - HOUR)
    assert files.set_expiry(owner=user, files=[file], expires_at=None) == 0
    late = FileFactory(owner=user, expires_at=NOON + HOUR)
    assert files.set_expiry(owner=user, files=[late, FileFactory()], expires_at=None) == 1
    assert files.expire(files=[late], since=NOON + DAY) == []


@pytest.mark.embedded
def test_expired_files_are_found_by_their_index_and_it_costs_no_query() -> None:
    assert "imagehost_file_expiring" in plan_of(lambda: list(sweeping._each(File.objects.expired(NOON), NOON)))
    file = stored(expires_at=NOON + HOUR)
    asked = statements.names(lambda: uploading.get(f"/media/{file.file_name}"))
    assert asked == ["SELECT imagehost_file"]


@pytest.mark.parametrize(("choice", "left"), [("", None), ("1h", HOUR), ("30d", 30 * DAY), ("2y", 0)])
def test_it_is_chosen_at_the_upload(
    choice: str, left: timedelta | None, user: User, bucket_directory: Path, tmp_path: Path
) -> None:
    browser = signed_in(user)
    for path in (f"{HOME}upload/", f"{HOME}upload/one/"):
        picture = io.BytesIO(uploading.png())
        picture.name = "a.png"
        answer = browser.post(path, {"expires": choice, "files": [picture]})
        if left == 0:
            assert "Choose from the list" in (answer.content.decode() or "".join(messages_of(answer)))
    found = list(File.objects.values_list("expires_at", flat=True))
    assert found == ([] if left == 0 else [NOON + left if left else None] * 2)


def test_it_is_changed_for_chosen_files_and_shown(user: User, clock: time_machine.Traveller) -> None:
    browser = signed_in(user)
    one, two, foreign = FileFactory(owner=user), FileFactory(owner=user), FileFactory()
    chosen = {"file": [one.name, two.name, foreign.name], "act": "expire:7d"}
    answer = browser.post(f"{HOME}files/selected/", chosen)
    assert messages_of(answer) == ["2 files will expire in 7 days."]
    foreign.refresh_from_db()
    assert foreign.expires_at is None
    clock.move_to(NOON + 4 * DAY)
    for path in (f"/files/{one.name}", HOME, f"{HOME}files/{one.name}/"):
        assert "Expires in 3 days: 8 Mar" in text_of(browser.get(path))
    clock.move_to(NOON + 7 * DAY)
    answer = browser.post(f"{HOME}files/selected/", {**chosen, "act": "expire:"})
    assert messages_of(answer) == ["0 files will not expire."]
