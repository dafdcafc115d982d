"""What every store of files offers, and how it says no."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation

PIECE = 256 * 1024  # bytes read at a time


class StorageFailed(Exception):
    """The store refused, or did not answer in time. What was asked for may still have happened where it timed out."""


class ObjectMissing(StorageFailed):
    """The store answers, and has no object of that key."""


@dataclass(frozen=True)
class Entry:
    key: str
    size: int  # bytes
    changed_at: datetime  # aware


class Bucket(Protocol):
    """Objects by key. A key is a relative path such as `files/<owner>/<name>.png`; anything else is refused.

    Every method raises StorageFailed (or ObjectMissing), and SuspiciousFileOperation for a key that is no such path.
    """

    def keep(self, key: str, path: Path, *, mime: str, download_name: str) -> None:
        """The finished file at `path` becomes the object, whole or not at all, and replaces one of the same key.

        A folder moves the file, S3 copies it: the caller removes what is left at `path`.
        """

    def prepare(self, descriptor: int, start: int, length: int) -> None:
        """Note that a file which `keep` may get has these bytes, while the rest of it still comes in."""

    def keep_bytes(self, key: str, content: bytes, *, mime: str) -> None:
        """The same for small content, such as a preview: no cache outside our own delivery may keep it."""

    def read(self, key: str, start: int, length: int) -> Iterator[bytes]:
        """Exactly `length` bytes from `start`, in pieces of at most 256 KiB.

        A missing object or a range beyond its end raises here and not at the first piece. The iterator has `close()`;
        read to its end, it closes itself.
        """

    def fetched(self, key: str) -> AbstractContextManager[Path]:
        """A local file with the content, to read only: the object itself, or a copy that goes away at the end."""

    def move(self, source: str, key: str) -> None:
        """The object of the key `source` becomes that of `key`; a link to `source` then leads nowhere.

        What was interrupted may leave both; repeat it.
        """

    def remove(self, key: str) -> None:
        """No error where it is gone already."""

    def entries(self, prefix: str, *, after: str = "", until: str = "") -> Iterator[Entry]:
        """The objects whose key starts with `prefix`, in no promised order.

        With `after` and `until`, which start with `prefix` too: those with a later key, up to that key, character by
        character. StorageFailed where the store does not list its keys in that order.
        """

    def link(self, key: str, *, mime: str, download_name: str, is_attachment: bool = False) -> str | None:
        """An absolute URL where a browser gets the object without us, good for an hour at least; None: there is none.

        `is_attachment`: for saving, where the store supports it.

        Says nothing about whether the object exists.
        """

    def part_directories(self) -> tuple[Path, ...]:
        """Local directories of half-written objects, beside the incoming directory."""


def checked(key: str) -> str:
    """The key, if it is a relative path of plain parts. No part starts with a dot: part files do."""
    if not key.isprintable() or "\\" in key or any(not part or part.startswith(".") for part in key.split("/")):
        raise SuspiciousFileOperation(f"No key of a stored file: {key!r}")
    return key


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class Pieces(Iterator[bytes]):
    """The next `length` bytes of `source`, which is closed at the end, at an error, or by `close()`.

    A class, because a generator that was never started closes nothing.
    """

    def __init__(self, source: Source, length: int, *, failures: tuple[type[Exception], ...]) -> None:
        """`failures`: what the source raises when it breaks off."""
        self._source = source
        self._left = length
        self._failures = failures

    def __next__(self) -> bytes:
        if not self._left:
            self.close()
            raise StopIteration
        try:
            piece = self._source.read(min(PIECE, self._left))
        except self._failures as error:
            raise self._broken(str(error)) from error
        if not piece:
            raise self._broken("it ended there")
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        self._left = 0
        self._source.close()

    def _broken(self, why: str) -> StorageFailed:
        left = self._left
        self.close()
        return StorageFailed(f"Broke off with {left} bytes to come: {why}")


def incoming_directory() -> Path:
    """For this user alone. On the file system of the folder storage, so that files are moved; made when missing."""
    directory = Path(settings.IMAGEHOST_INCOMING)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory
