"""Uploads and delivery with an S3 store that checks signatures, and that dies while uploads are under way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from imagehost import files, quotas, storage
from imagehost.models import File
from imagehost.storage import S3Storage
from tests.support import object_store
from tests.support.object_store import OwnObjectStore
from tests.support.threads import together
from tests.imagehost import s3, uploading
from tests.imagehost.uploading import png, upload

FAILED = {"error": "The file could not be stored. Please try again.", "code": "UPLOAD_FAILED"}


@pytest.fixture(scope="module")
def mortal() -> Iterator[OwnObjectStore]:
    """A store that a test may kill: the others of the run have theirs."""
    with object_store.running() as store:
        yield store


def use(settings: Settings, options: dict[str, Any]) -> S3Storage:
    """Keep the files in a new bucket from now on."""
    entry = {"BACKEND": "imagehost.storage.S3Storage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "imagehost": entry}
    bucket = storage.bucket()
    assert isinstance(bucket, S3Storage)
    bucket.client.create_bucket(Bucket=bucket.bucket_name)
    return bucket


@pytest.fixture
def bucket(settings: Settings) -> Iterator[S3Storage]:
    bucket = use(settings, s3.options(s3.server()))
    yield bucket
    bucket.client.close()


@pytest.fixture
def dying_bucket(settings: Settings, mortal: OwnObjectStore) -> Iterator[S3Storage]:
    bucket = use(settings, s3.options(mortal))
    yield bucket
    bucket.client.close()


def keys(bucket: S3Storage) -> list[str]:
    return sorted(entry.key for entry in bucket.entries(""))


@pytest.mark.django_db
def test_an_upload_is_one_object_that_is_served_whole_and_in_part(bucket: S3Storage) -> None:
    uploading.uploader()
    answer = upload(png())
    assert answer.status == 200
    file = File.objects.get()
    assert keys(bucket) == [file.key]
    whole = Client().get(f"/media/{file.file_name}")
    assert (whole.status_code, whole.getvalue(), whole.headers["Content-Type"]) == (200, png(), "image/png")
    part = Client().get(f"/media/{file.file_name}", headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.getvalue()) == (206, b"PNG")


@pytest.mark.django_db
def test_redirected_delivery_leads_to_the_object(bucket: S3Storage, settings: Settings) -> None:
    settings.FILE_DELIVERY = "redirect"
    uploading.uploader()
    upload(png())
    file = File.objects.get()
    response = Client().get(f"/media/{file.file_name}")
    assert response.status_code == 302
    assert response.headers["Location"].startswith(f"{s3.server().endpoint_url}/{bucket.bucket_name}/{file.key}?")
    there = requests.get(response.headers["Location"], timeout=20)
    assert (there.status_code, there.content, there.headers["Content-Type"]) == (200, png(), "image/png")


@pytest.mark.django_db(transaction=True)
def test_a_deleted_file_leaves_no_object(bucket: S3Storage) -> None:
    uploading.uploader()
    upload(png())
    files.delete(file=File.objects.get(), by=None)
    assert keys(bucket) == []
    assert not File.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_store_that_dies_takes_nothing_along(dying_bucket: S3Storage, mortal: OwnObjectStore) -> None:
    """Uploads go on while it is killed: each is stored and booked, or failed and neither; later all is well again."""
    user = uploading.uploader()
    assert upload(png()).status == 200

    def act(number: int) -> uploading.Answer:
        if number == 0:
            mortal.kill_object_server()
        return uploading.sent(uploading.form_of(png()), uploading.headers_of("current"))

    answers = together(6, act)
    assert upload(png()).whole == (500, FAILED)
    mortal.restart_object_server()
    assert upload(png()).status == 200
    stored = 2 + sum(answer.status == 200 for answer in answers)
    assert {answer.outcome for answer in answers} <= {(200, ""), (500, "UPLOAD_FAILED")}
    assert_exact(user, dying_bucket, stored)


def assert_exact(user: User, bucket: S3Storage, stored: int) -> None:
    """As many files as were said to be stored, each with its object and its bytes booked.

    What could not be removed while the store was dead is left to the job: such rows are DELETED, and count for nothing.
    """
    ready = File.objects.ready()
    assert ready.count() == File.objects.booked().count() == stored
    assert quotas.used(user.pk) == stored * len(png())
    assert {file.key for file in ready} <= set(keys(bucket))
    assert set(keys(bucket)) <= {file.key for file in File.objects.all()}
