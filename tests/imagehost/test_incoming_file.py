"""A file on its way in: whole, and shown to the bucket once, a stretch at a time."""

import os
from pathlib import Path

import pytest
from pytest_django import Settings

from imagehost import incoming, storage
from imagehost.incoming import IncomingFile
from imagehost.storage import FolderStorage

PIECE = bytes(range(100))


class WatchedStorage(FolderStorage):
    def __init__(self, location: Path) -> None:
        super().__init__(location=location)
        self.prepared: list[tuple[int, int]] = []

    def prepare(self, descriptor: int, start: int, length: int) -> None:
        assert os.fstat(descriptor).st_size == start + length  # written already
        self.prepared.append((start, length))
        super().prepare(descriptor, start, length)


@pytest.fixture
def bucket(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WatchedStorage:
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    bucket = WatchedStorage(tmp_path / "files")
    monkeypatch.setattr(storage, "bucket", lambda: bucket)
    monkeypatch.setattr(incoming, "STRETCH", 250)
    return bucket


def _received(pieces: int) -> bytes:
    with IncomingFile() as file:
        for _ in range(pieces):
            file.take(PIECE)
    return file.path.read_bytes()


def test_each_full_stretch_is_prepared_once(bucket: WatchedStorage) -> None:
    assert _received(8) == PIECE * 8
    assert bucket.prepared == [(0, 300), (300, 300)]


def test_a_small_file_is_left_to_the_end(bucket: WatchedStorage) -> None:
    assert _received(2) == PIECE * 2
    assert bucket.prepared == []


def test_a_disk_that_takes_a_part_gets_the_rest(bucket: WatchedStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    write = IncomingFile.write
    monkeypatch.setattr(IncomingFile, "write", lambda self, data: write(self, data[:7]))
    assert _received(3) == PIECE * 3
    assert bucket.prepared == [(0, 300)]
