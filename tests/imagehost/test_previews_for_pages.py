"""The first view of a new file's page waits for its preview, for a bounded time and on a bounded number of pages."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from imagehost import media
from imagehost.examining.probing import Preview
from imagehost.models import File, PreviewState
from imagehost.storing import previews
from tests.imagehost.media_corpus.real_videos import Recipe, recorded
from tests.imagehost.public_pages import BASE, messenger_tags, stored
from tests.lookup import statements

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
        *(f"UPDATE {file_}", f"SELECT {turn}", f"UPDATE {turn}"),
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
