"""The objects of the bucket, stores that fail when a test says so, and differences for a comparison to find."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.files.storage import storages
from django.utils import timezone
from PIL import Image
from pytest_django import Settings

from accounts.models import User
from accounts.plans import ALLOWANCES, Plan
from imagehost.models import File
from imagehost.receiving import uploads
from imagehost.receiving.uploads import Incoming, Uploaded, UploadOwner
from imagehost.storing import reconciliation, storage, sweeping
from imagehost.storing.reconciliation import Comparison
from imagehost.storing.storage import FolderStorage
from tests.factories.imagehost import FileFactory

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOON - timedelta(days=30)


class Crash(BaseException):
    """The process ends here: no handler catches it."""


class FaultyStorage(FolderStorage):
    """A folder that says no, or brings the process down, where the test says so.

    `faults`: what is raised by a method, "remove" for example, or by it for one key: "remove files/…". With "after " in
    front it is raised when the method has done its work.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.faults: dict[str, type[BaseException]] = {}

    def keep(self, key: str, path: Path, *, mime: str, download_name: str) -> None:
        with self._faults("keep", key):
            super().keep(key, path, mime=mime, download_name=download_name)

    def keep_bytes(self, key: str, content: bytes, *, mime: str) -> None:
        with self._faults("keep_bytes", key):
            super().keep_bytes(key, content, mime=mime)

    @contextlib.contextmanager
    def fetched(self, key: str) -> Iterator[Path]:
        with self._faults("fetched", key), super().fetched(key) as path:
            yield path

    def move(self, source: str, key: str) -> None:
        with self._faults("move", source):
            super().move(source, key)

    def remove(self, key: str) -> None:
        with self._faults("remove", key):
            super().remove(key)

    @contextlib.contextmanager
    def _faults(self, method: str, key: str) -> Iterator[None]:
        self._raise(method, key)
        yield
        self._raise(f"after {method}", key)

    def _raise(self, moment: str, key: str) -> None:
        for fault in (moment, f"{moment} {key}"):
            if fault in self.faults:
                raise self.faults[fault](fault)


class SweptStorage(FaultyStorage):
    """The sweep comes while the object is being written, or right behind that."""

    def keep(self, key: str, path: Path, *, mime: str, download_name: str) -> None:
        if self.faults.pop("sweep before", None):
            self._sweep()
        super().keep(key, path, mime=mime, download_name=download_name)
        if self.faults.pop("sweep behind", None):
            self._sweep()

    def _sweep(self) -> None:
        later = timezone.now() + timedelta(hours=1, seconds=1)
        assert sweeping.sweep(now=later, until=later).uploads == 1


def faulty(settings: Settings, directory: Path, kind: type[FaultyStorage] = FaultyStorage) -> FaultyStorage:
    """The bucket in `directory`, from now on."""
    backend = f"{kind.__module__}.{kind.__qualname__}"
    settings.STORAGES = {**settings.STORAGES, "imagehost": {"BACKEND": backend, "OPTIONS": {"location": directory}}}
    bucket = storages["imagehost"]
    assert isinstance(bucket, FaultyStorage)
    return bucket


def picture(width: int = 8, height: int = 8) -> bytes:
    """A PNG."""
    content = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(content, "PNG")
    return content.getvalue()


def upload(owner: User, content: bytes, now: datetime) -> Uploaded:
    """As the endpoint does it."""
    path = storage.incoming_directory() / secrets.token_hex(8)
    path.write_bytes(content)
    incoming = Incoming(path=path, size=len(content), original_name="holiday.png")
    return uploads.store(UploadOwner(owner.pk, ALLOWANCES[Plan.FREE]), incoming, now=now)


def put(*files: File, content: bytes = b"") -> None:
    """Objects of these rows; without `content` there are as many bytes as the row says."""
    for file in files:
        put_key(file.key, content or bytes(file.size))


def put_key(key: str, content: bytes = b"Content") -> None:
    storage.bucket().keep_bytes(key, content, mime="image/png")


def all_keys() -> list[str]:
    return sorted(
        entry.key for prefix in ("files/", "previews/", "quarantine/") for entry in storage.bucket().entries(prefix)
    )


def age(path: Path, moment: datetime) -> None:
    """Say that the file was last changed then."""
    os.utime(path, (moment.timestamp(), moment.timestamp()))


def age_all(directory: Path, moment: datetime) -> None:
    for path in directory.rglob("*"):
        age(path, moment)


def reconcile(
    *, until: datetime | None = None, is_after_restore: bool = False, may_remove_many: bool = False
) -> Comparison:
    return reconciliation.reconcile(
        now=NOON, until=until, is_after_restore=is_after_restore, may_remove_many=may_remove_many
    )


def stored(**values: object) -> File:
    """A file of a month ago with its object."""
    file = FileFactory(uploaded_at=LONG_AGO, **values)
    put(file)
    return file


def stray(key: str, directory: Path, old: timedelta = timedelta(days=2)) -> str:
    """An object without a file."""
    put_key(key)
    age(directory / key, NOON - old)
    return key
