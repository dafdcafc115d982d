"""The files of a folder as one ZIP archive, written while it is sent, without a copy in memory or on the disk.

Files are stored as they are: pictures and videos are compressed already. The sizes follow each file (data descriptors),
and archives of more than 4 GiB are Zip64.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Generator, Iterator, Sequence
from datetime import UTC, datetime
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from accounts import rate_limits
from imagehost import names
from imagehost.models import File
from imagehost.storing import storage
from imagehost.storing.storage import Bucket, ObjectMissing
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests import request_context

logger = logging.getLogger(__name__)

MIME = "application/zip"
_REGULAR_FILE = 0o100644 << 16
PAUSE = 10  # seconds, for `Retry-After`
AT_ONCE = 2  # in a process: its threads serve all other requests too
_places = threading.BoundedSemaphore(AT_ONCE)
_EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)  # of the format


class Refused(Exception):
    """`status`: 429 over the limit of an address, 503 while too many archives are being sent."""

    def __init__(self, status: int, seconds_left: int) -> None:
        super().__init__(status, seconds_left)
        self.status = status
        self.seconds_left = seconds_left


def count() -> None:
    """Count an archive for the client's address. Raises Refused."""
    try:
        seconds_left = limits.hit(rate_limits.ARCHIVES.of(request_context.address()))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise Refused(503, PAUSE) from None
    if seconds_left:
        raise Refused(429, seconds_left)


class Archive:
    """The pieces of an archive, for one reader; close it. Raises Refused while this process sends AT_ONCE of them.

    A file whose object is missing is left out. StorageFailed, from a piece: the store broke off. The archive then has
    no directory at its end, so that readers see that it is incomplete.
    """

    def __init__(self, files: Sequence[File]) -> None:
        self._pieces = _pieces(files)
        self._is_open = _places.acquire(blocking=False)
        if not self._is_open:
            raise Refused(503, PAUSE)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._pieces)
        except BaseException:  # StopIteration as well
            self.close()
            raise

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            _places.release()
            self._pieces.close()


def _pieces(files: Sequence[File]) -> Generator[bytes]:
    bucket, sink = storage.bucket(), _Sink()
    entries = names.unpacked((file.original_name, file.name, file.extension) for file in files)
    with ZipFile(sink, "w", ZIP_STORED) as archive:
        for file, name in zip(files, entries, strict=True):
            yield from _entry(archive, sink, bucket, file, name)
    yield sink.taken()


def _entry(archive: ZipFile, sink: _Sink, bucket: Bucket, file: File, name: str) -> Iterator[bytes]:
    try:
        pieces = bucket.read(file.key, 0, file.size)
    except ObjectMissing:
        logger.info("The object of %s is missing; the archive leaves it out.", file.pk)
        return
    entry = ZipInfo(name, max(file.uploaded_at.astimezone(UTC), _EARLIEST).timetuple()[:6])
    entry.file_size, entry.external_attr = file.size, _REGULAR_FILE
    with contextlib.closing(pieces), archive.open(entry, "w") as written:  # type: ignore[type-var]  # it has close()
        for piece in pieces:
            written.write(piece)
            yield sink.taken()


class _Sink:
    """The file that ZipFile writes to: it cannot seek, and keeps only what was not taken yet."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, content: bytes) -> int:
        self._written.append(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Do nothing."""

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        content = b"".join(self._written)
        self._written.clear()
        return content
