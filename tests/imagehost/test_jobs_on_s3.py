"""The three jobs on a real S3 server: what it lists, fetches and removes is what they expect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.utils import timezone
from pytest_django import Settings

from imagehost import previews, reconciliation, sweeping
from imagehost.models import File, PreviewState, State
from imagehost.previews import Work
from imagehost.reconciliation import Found
from imagehost.storage import S3Storage
from imagehost.sweeping import Swept
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects, s3

pytestmark = pytest.mark.django_db(transaction=True)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def bucket(settings: Settings) -> Iterator[S3Storage]:
    settings.STORAGES = {
        **settings.STORAGES,
        "imagehost": {"BACKEND": "imagehost.storage.S3Storage", "OPTIONS": s3.options(s3.server())},
    }
    bucket = storages["imagehost"]
    assert isinstance(bucket, S3Storage)
    with contextlib.closing(bucket.client):
        bucket.client.create_bucket(Bucket=bucket.bucket_name)
        yield bucket


def test_previews_are_made() -> None:
    content = objects.picture(1280, 640)
    file = FileFactory(size=len(content))
    objects.put(file, content=content)
    assert previews.make(until=timezone.now() + HOUR) == Work(made=1)
    file.refresh_from_db()
    assert (file.preview_state, file.preview_width, file.preview_height) == (PreviewState.MADE, 640, 320)
    assert objects.all_keys() == [file.key, file.preview_key]


def test_uploads_that_never_ended_and_deleted_files_are_swept_up() -> None:
    now = timezone.now()
    rows = [
        FileFactory(state=State.PENDING, uploaded_at=now - 2 * HOUR),
        FileFactory(state=State.DELETED, uploaded_at=now),
    ]
    objects.put(*rows)
    assert sweeping.sweep(now=now, until=now + HOUR) == Swept(uploads=1, deletions=1)
    assert (objects.all_keys(), File.objects.count()) == ([], 0)


def test_rows_and_objects_are_compared() -> None:
    sound, lost, damaged = FileFactory.create_batch(3)
    objects.put(sound)
    objects.put(damaged, content=b"Half of it")
    objects.put_key("files/somebody/Aaaaaaa1.png")
    assert reconciliation.reconcile(now=timezone.now() + 2 * DAY) == Found(
        objects=3, removed=1, missing=[lost.key], damaged=[damaged.key]
    )
    assert objects.all_keys() == sorted([sound.key, damaged.key])
