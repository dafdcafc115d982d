"""The interface of a store of files, and its errors."""

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
    """The store refused or timed out; after a timeout the operation may still have succeeded."""


class ObjectMissing(StorageFailed):
    """The store has no object of that key."""


@dataclass(frozen=True)
class Entry:
    key: str
    size: int  # bytes
    changed_at: datetime  # aware


class Bucket(Protocol):
    """Objects by key. A key is a relative path such as `files/<owner>/<name>.png`.

    Every method raises StorageFailed (or ObjectMissing), and SuspiciousFileOperation for an invalid key.
    """

    def keep(self, key: str, path: Path, *, mime: str, download_name: str) -> None:
        """Store the file at `path` as the object, atomically, replacing the key's earlier object.

        A folder moves the file, S3 copies it: the caller removes `path` if it still exists.
        """

    def prepare(self, descriptor: int, start: int, length: int) -> None:
        """Prepare these bytes of a file for `keep`, while the rest of it still comes in."""

    def keep_bytes(self, key: str, content: bytes, *, mime: str) -> None:
        """Store small content such as a preview, which caches outside of this service may not keep."""

    def read(self, key: str, start: int, length: int) -> Iterator[bytes]:
        """Yield exactly `length` bytes from `start`, in pieces of at most 256 KiB.

        A missing object or a range beyond its end raises here and not at the first piece. The iterator has `close()`,
        and closes itself at its end.
        """

    def fetched(self, key: str) -> AbstractContextManager[Path]:
        """Return a local file with the content, read-only: the object itself, or a temporary copy."""

    def move(self, source: str, key: str) -> None:
        """Move the object from the key `source` to `key`; links to `source` then fail.

        After an interruption both may exist: repeat it.
        """

    def remove(self, key: str) -> None:
        """Remove the object, if it exists."""

    def entries(self, prefix: str, *, after: str = "", until: str = "") -> Iterator[Entry]:
        """Yield the objects whose key starts with `prefix`, in any order.

        `after` and `until`, which start with `prefix` too, leave the keys with after < key <= until, compared by
        character. StorageFailed where the store does not list its keys in that order.
        """

    def link(
        self, key: str, *, mime: str, download_name: str, is_attachment: bool = False, seconds: int | None = None
    ) -> str | None:
        """Return an absolute URL of the object in the store, valid for at least an hour, or None.

        `is_attachment`: for saving, where the store supports it. `seconds`: it is valid and cached for at most as many;
        None then where the store's links do not end. The object may be missing.
        """

    def part_directories(self) -> tuple[Path, ...]:
        """Return the local directories of incomplete objects, without the incoming directory."""


def checked(key: str) -> str:
    """Return the key, if it is a relative path whose parts do not start with a dot, as part files do."""
    if not key.isprintable() or "\\" in key or any(not part or part.startswith(".") for part in key.split("/")):
        raise SuspiciousFileOperation(f"No key of a stored file: {key!r}")
    return key


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class Pieces(Iterator[bytes]):
    """The next `length` bytes of `source`, which is closed at the end, at an error, or by `close()`.

    A class, because an unstarted generator does not close its source.
    """

    def __init__(self, source: Source, length: int, *, failures: tuple[type[Exception], ...]) -> None:
        """`failures`: the source's exceptions when it breaks off."""
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
    """Return the directory of incoming files, created if missing, readable only by this user.

    It is on the file system of the folder storage, so that files are moved and not copied.
    """
    directory = Path(settings.IMAGEHOST_INCOMING)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory
