"""Previews right after the upload: by workers of `run_jobs`, once, or by the page that waits for a bounded time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.db import DatabaseError, OperationalError, connection
from django.test import Client
from django.utils import timezone

from imagehost import media
from imagehost.examining.probing import Preview
from imagehost.models import File, PreviewState, PreviewTurn, State
from imagehost.storing import previews
from imagehost.storing.previews import Worker
from imagehost.storing.storage import StorageFailed
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects
from tests.imagehost.media_corpus.real_videos import Recipe, recorded
from tests.imagehost.objects import FaultyStorage
from tests.imagehost.public_pages import BASE, messenger_tags, stored
from tests.lookup import statements
from tests.support import processes

ROOT = Path(__file__).parents[2]
MADE = {"preview_state": PreviewState.MADE, "preview_attempts": 1}


def uploaded() -> None:
    """As an upload does it: the row is READY once its object is there."""
    content = objects.picture()
    file = FileFactory(size=len(content), state=State.PENDING)
    objects.put(file, content=content)
    File.objects.filter(pk=file.pk).update(state=State.READY)


def hanging(bucket_directory: Path) -> File:
    """A file whose object is never read to its end: a pipe that nothing is written to."""
    file = FileFactory(state=State.PENDING)
    place = bucket_directory / file.key
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)
    File.objects.filter(pk=file.pk).update(state=State.READY)
    return file


def wait_for(is_there: Callable[[], bool], seconds: float = 30) -> None:
    give_up_at = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < give_up_at, list(File.objects.values())
        time.sleep(0.01)


@contextlib.contextmanager
def working(count: int = 1, patience: float = 30) -> Iterator[None]:
    """Workers in threads of this process."""
    end = threading.Event()
    workers = [Worker(is_asked_to_end=end.is_set) for _ in range(count)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        end.set()
        for worker in workers:
            worker.end(patience)


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
class TestThreads:
    def test_what_is_uploaded_while_they_run_is_made_once(self) -> None:
        with working(3):
            for _ in range(9):
                uploaded()
            wait_for(lambda: File.objects.filter(**MADE).count() == 9)

    def test_an_error_is_logged_and_the_worker_goes_on(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        claim, errors = previews._claim, [DatabaseError("restarted")]

        def stumbling(work: previews.Work) -> File | None:
            if errors:
                raise errors.pop()
            return claim(work)

        monkeypatch.setattr(previews, "_claim", stumbling)
        monkeypatch.setattr(previews, "AFTER_ERROR_SECONDS", 0.01)
        uploaded()
        with working():
            wait_for(lambda: File.objects.filter(**MADE).exists())
        assert caplog.messages == ["The worker for previews failed"]

    def test_the_file_in_work_is_given_back_where_it_takes_long(self, bucket_directory: Path) -> None:
        file = hanging(bucket_directory)
        with working(patience=0):
            wait_for(lambda: File.objects.filter(preview_attempts=1).exists())
        file.refresh_from_db()
        assert (file.preview_attempts, file.preview_due_at <= timezone.now()) == (0, True)
        os.close(os.open(bucket_directory / file.key, os.O_WRONLY))  # the thread goes on and finds no picture
        wait_for(lambda: not any(thread.name == "previews" for thread in threading.enumerate()))
        file.refresh_from_db()
        assert (file.preview_state, file.preview_attempts) == (PreviewState.WAITING, 0)

    def test_the_file_in_work_is_finished_where_it_is_quick(self, bucket: FaultyStorage) -> None:
        bucket.faults["fetched"] = StorageFailed
        uploaded()
        with working():
            wait_for(lambda: File.objects.filter(preview_attempts=1).exists())
        assert File.objects.get().preview_due_at > timezone.now()  # postponed


@pytest.fixture
def start(bucket_directory: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts run_jobs on the database and the files of the test."""
    runners: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        name = str(connection.settings_dict["NAME"])
        command = [sys.executable, "-m", "tests.config.jobs_app", name, "tidy"]
        environment = {**os.environ, "FILES_DIR": str(bucket_directory)}
        runners.append(
            subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        )
        return runners[-1]

    yield start
    for runner in runners:
        processes.kill_group(runner)


@pytest.mark.live
@pytest.mark.django_db(transaction=True)
class TestProcesses:
    def test_two_runners_share_the_files_and_sigterm_gives_a_claim_back(
        self, start: Callable[[], subprocess.Popen[bytes]], bucket_directory: Path
    ) -> None:
        runners = [start(), start()]
        for _ in range(20):
            uploaded()
        wait_for(lambda: File.objects.filter(**MADE).count() == 20)
        uploaded()
        wait_for(lambda: File.objects.filter(**MADE).count() == 21, seconds=5)
        file = hanging(bucket_directory)
        wait_for(lambda: File.objects.filter(pk=file.pk, preview_attempts=1).exists())
        for runner in runners:
            runner.send_signal(signal.SIGTERM)
        assert [runner.wait(10) for runner in runners] == [0, 0]
        file.refresh_from_db()
        assert (file.preview_attempts, file.preview_due_at <= timezone.now()) == (0, True)

    def test_a_runner_that_is_killed_leaves_its_claim_to_end_by_itself(
        self, start: Callable[[], subprocess.Popen[bytes]], bucket_directory: Path
    ) -> None:
        file = hanging(bucket_directory)
        runner = start()
        wait_for(lambda: File.objects.filter(preview_attempts=1).exists())
        runner.kill()
        runner.wait(10)
        file.refresh_from_db()
        assert file.preview_attempts == 1
        assert previews._claim(previews.Work()) is None
        File.objects.update(preview_due_at=timezone.now())  # five minutes later
        PreviewTurn.objects.update(busy_until=timezone.now())
        assert previews._claim(previews.Work()) == file


# --- The first view of a new file's page, on a bounded number of pages. ---

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def film() -> bytes:
    return recorded(Recipe("mp4", "libx264", tune={"preset": "ultrafast"}))


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes longer than a page waits."""
    monkeypatch.setattr(previews, "PAGE_SECONDS", 30)


def image_of(file: File) -> str | None:
    return messenger_tags(Client().get(f"/files/{file.name}")).get("og:image")


@pytest.mark.embedded
def test_the_first_view_names_a_picture_that_can_be_fetched(film: bytes) -> None:
    file = stored(content=film, media=media.MP4)
    found: list[str | None] = []
    asked = statements.names(lambda: found.append(image_of(file)))
    file_, turn = "imagehost_file", "imagehost_previewturn"
    assert [name for name in asked if " imagehost" in name] == [
        *(f"SELECT {file_}", f"UPDATE {file_}", f"SELECT {turn}", f"INSERT {turn}"),
        *(f"UPDATE {file_}", f"UPDATE {turn}"),
    ]
    assert found == [f"{BASE}/files/{file.name}/preview.png"]
    picture = Client().get(f"/files/{file.name}/preview.png")
    assert (picture.status_code, picture.headers["Content-Type"]) == (200, "image/png")
    assert statements.names(lambda: image_of(file)) == ["SELECT imagehost_file"]


def test_an_error_of_the_database_keeps_no_place(film: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stored(content=film, media=media.MP4)
    with monkeypatch.context() as broken:
        broken.setattr(previews, "_claim_one", Mock(side_effect=OperationalError))
        for _ in range(previews.AT_ONCE + 1):
            with pytest.raises(OperationalError):
                image_of(file)
    assert image_of(file) is not None


def test_an_error_of_the_database_ends_the_turn_of_the_owner(film: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stored(content=film, media=media.MP4)
    other = stored(content=film, media=media.MP4, owner=file.owner)
    with monkeypatch.context() as broken:
        broken.setattr(previews, "_finish", Mock(side_effect=OperationalError))
        with pytest.raises(OperationalError):
            image_of(file)
    assert image_of(other) is not None


def test_what_cannot_be_rendered_is_left_to_a_worker() -> None:
    file = stored(content=b"no film", media=media.MP4)
    assert image_of(file) is None
    file.refresh_from_db()
    assert (file.preview_state, file.preview_attempts) == (PreviewState.WAITING, 0)
    assert file.preview_due_at <= timezone.now()


def test_a_view_does_not_wait_for_a_slow_one(film: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()
    monkeypatch.setattr(previews, "PAGE_SECONDS", 0.05)
    monkeypatch.setattr(previews, "_rendered", lambda file: goes_on.wait(30) and Preview(b"", 1, 1, 0.0))
    file = stored(content=film, media=media.MP4)
    assert image_of(file) is None
    goes_on.set()
    file.refresh_from_db()
    assert (file.preview_state, file.preview_attempts) == (PreviewState.WAITING, 0)


def test_only_some_pages_wait_and_only_for_new_files(film: bytes) -> None:
    file = stored(content=film, media=media.MP4)
    old = stored(content=film, media=media.MP4, uploaded_at=timezone.now() - previews.NEW)
    for _ in range(previews.AT_ONCE):
        assert previews._places.acquire(timeout=30)
    try:
        assert statements.names(lambda: image_of(file)) == ["SELECT imagehost_file"]
    finally:
        for _ in range(previews.AT_ONCE):
            previews._places.release()
    assert statements.names(lambda: image_of(old)) == ["SELECT imagehost_file"]


def test_a_view_waits_for_the_worker_that_makes_it(film: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stored(content=film, media=media.MP4, preview_due_at=timezone.now() + timedelta(minutes=5))

    def made(_: float) -> None:
        values = {"preview_width": 4, "preview_height": 3}
        File.objects.filter(pk=file.pk).update(preview_state=PreviewState.MADE, **values)

    monkeypatch.setattr(time, "sleep", made)
    assert image_of(file) == f"{BASE}/files/{file.name}/preview.png"
