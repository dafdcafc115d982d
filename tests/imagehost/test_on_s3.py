"""Uploads, delivery and the three jobs with an S3 store that checks signatures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta

import pytest
import requests
from django.test import Client
from pytest_django import Settings

from config.doctor import Level
from config.management.commands import doctor
from imagehost.models import File
from imagehost.storing import files, quarantine, quotas, storage
from imagehost.storing.storage import S3Storage
from tests.factories.accounts import StaffFactory
from tests.imagehost import objects, s3, uploading
from tests.imagehost.uploading import png, upload
from tests.support import object_store
from tests.support.object_store import OwnObjectStore
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.live]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@contextlib.contextmanager
def kept_in(store: object_store.ObjectStore, settings: Settings) -> Iterator[S3Storage]:
    """Files are kept in a new bucket of the store."""
    entry = {"BACKEND": "imagehost.storing.storage.S3Storage", "OPTIONS": s3.options(store)}
    settings.STORAGES = {**settings.STORAGES, "imagehost": entry}
    bucket = storage.bucket()
    assert isinstance(bucket, S3Storage)
    with contextlib.closing(bucket.client):
        bucket.client.create_bucket(Bucket=bucket.bucket_name)
        yield bucket


@pytest.fixture
def bucket(settings: Settings) -> Iterator[S3Storage]:
    with kept_in(s3.server(), settings) as bucket:
        yield bucket


def test_an_upload_is_one_object_that_is_served_whole_in_part_and_by_a_link(
    bucket: S3Storage, settings: Settings
) -> None:
    uploading.uploader()
    assert upload(png()).status == 200
    file = File.objects.get()
    assert objects.all_keys() == [file.key]
    whole = Client().get(f"/media/{file.file_name}")
    assert (whole.status_code, whole.getvalue(), whole.headers["Content-Type"]) == (200, png(), "image/png")
    part = Client().get(f"/media/{file.file_name}", headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.getvalue()) == (206, b"PNG")
    settings.FILE_DELIVERY = "redirect"
    redirect = Client().get(f"/media/{file.file_name}")
    assert redirect.status_code == 302
    assert redirect.headers["Location"].startswith(f"{s3.server().endpoint_url}/{bucket.bucket_name}/{file.key}?")
    there = requests.get(redirect.headers["Location"], timeout=20)
    assert (there.status_code, there.content, there.headers["Content-Type"]) == (200, png(), "image/png")
    head = Client().head(f"/media/{file.file_name}", follow=True)
    assert (head.status_code, head.content, head.headers["Content-Type"]) == (200, b"", "image/png")
    assert head.headers["Content-Length"] == str(len(png()))
    files.delete(file=file, by=None)
    assert (objects.all_keys(), File.objects.count()) == ([], 0)


@pytest.fixture
def mortal() -> Iterator[OwnObjectStore]:
    """A store that a test may kill: the others of the run have theirs."""
    with object_store.running() as store:
        yield store


def test_a_store_that_dies_takes_nothing_along(settings: Settings, mortal: OwnObjectStore) -> None:
    """Uploads go on while it is killed: each is stored and booked, or failed and neither; later all is well again.

    What could not be removed while the store was dead is left to the job: such rows are DELETED, and count for nothing.
    """
    user = uploading.uploader()

    def act(number: int) -> uploading.Answer:
        if number == 0:
            mortal.kill_object_server()
        return uploading.post(uploading.form_of(png()), uploading.headers_of("current"), is_alone=False)

    with kept_in(mortal, settings):
        assert upload(png()).status == 200
        answers = together(4, act)
        assert upload(png()).outcome == (500, "UPLOAD_FAILED")
        mortal.restart_object_server()
        assert upload(png()).status == 200
        keys = objects.all_keys()
    stored = 2 + sum(answer.status == 200 for answer in answers)
    assert {answer.outcome for answer in answers} <= {(200, ""), (500, "UPLOAD_FAILED")}
    ready = File.objects.ready()
    assert ready.count() == File.objects.booked().count() == stored
    assert quotas.used(user.pk) == stored * len(png())
    assert {file.key for file in ready} <= set(keys) <= {file.key for file in File.objects.all()}


@pytest.mark.parametrize("is_public", [True, False], ids=["public bucket", "signed links"])
def test_a_link_to_the_store_ends_with_the_quarantine_and_with_the_file(
    is_public: bool, bucket: S3Storage, settings: Settings
) -> None:
    """The restored file has another link; the first one stays without effect."""
    if is_public:
        bucket.client.put_bucket_acl(Bucket=bucket.bucket_name, ACL="public-read")
        bucket.public_url = f"{s3.server().public_url}/{bucket.bucket_name}"
    settings.FILE_DELIVERY = "redirect"
    uploading.uploader()
    assert upload(png()).status == 200
    file = File.objects.get()

    def link() -> str:
        return Client().get(f"/media/{file.file_name}").headers["Location"]

    first, staff = link(), StaffFactory()
    assert (requests.get(first, timeout=20).content, "?" in first) == (png(), not is_public)
    quarantine.impose(file=file, by=staff, reason="Reported")
    assert requests.get(first, timeout=20).status_code == 404
    assert Client().get(f"/media/{file.file_name}").status_code == 451
    quarantine.lift(file=file, by=staff, reason="Fine")
    second = link()
    assert [requests.get(url, timeout=20).status_code for url in (first, second)] == [404, 200]
    files.delete(file=File.objects.get(), by=None)
    assert requests.get(second, timeout=20).status_code == 404


@pytest.mark.parametrize("is_public", [True, False], ids=["public bucket", "private bucket"])
def test_the_doctor_tells_a_bucket_that_anybody_reads_or_that_is_not_there(is_public: bool, bucket: S3Storage) -> None:
    if is_public:
        bucket.client.put_bucket_acl(Bucket=bucket.bucket_name, ACL="public-read")
        bucket.public_url = f"{s3.server().public_url}/{bucket.bucket_name}"
    (finding,) = doctor.examine("files")
    assert finding.level == (Level.FAILURE if is_public else Level.OK)
    assert finding.text.endswith("every object is public" if is_public else "written, moved, listed, read, removed")
    assert list(bucket.entries("")) == []
    bucket.bucket_name = "nobodys"
    (finding,) = doctor.examine("files")
    assert finding.level == Level.FAILURE
