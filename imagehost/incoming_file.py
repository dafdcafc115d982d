"""A file of the incoming directory, while its upload comes in."""

import tempfile
from io import FileIO
from pathlib import Path

from imagehost import storage

STRETCH = 8 * 1024 * 1024  # bytes that the bucket is shown at a time


class IncomingFile(FileIO):
    """A new file at `path`; the caller removes what is left there. Raises OSError, as `take` does."""

    def __init__(self) -> None:
        descriptor, path = tempfile.mkstemp(prefix="upload-", dir=storage.incoming_directory())
        super().__init__(descriptor, "wb")
        self.path = Path(path)
        self._size = 0
        self._shown = 0

    def take(self, content: bytes) -> None:
        """Write all of `content` at the end. The bucket prepares each full STRETCH while the next one comes in."""
        left = memoryview(content)
        while left:
            left = left[self.write(left) :]  # a disk that fills up takes a part of it
        self._size += len(content)
        if self._size - self._shown >= STRETCH:
            storage.bucket().prepare(self.fileno(), self._shown, self._size - self._shown)
            self._shown = self._size
