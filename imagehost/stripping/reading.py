"""A file as the walks read it: through a small window, with every length held against the file's end."""

import os
import re
from typing import BinaryIO

from imagehost.stripping.errors import Malformed, TooManyParts

LARGEST_READ = 1 << 20  # bytes
_WINDOW = 1 << 16  # bytes; neighbouring headers come out of one read
_PADDING = b"\x00\xff\t\n\r "


class Source:
    """The bytes of `file` by position. `parts`: how many parts a walk may meet before the file counts as hostile."""

    def __init__(self, file: BinaryIO, *, parts: int = 200_000) -> None:
        self._file = file
        self.size = file.seek(0, os.SEEK_END)
        self._parts_left = parts
        self._window = b""
        self._window_start = 0

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes (at most LARGEST_READ), fewer only at the file's end."""
        offset = position - self._window_start
        if offset < 0 or offset + length > len(self._window):
            if length > _WINDOW:
                self._file.seek(position)
                return self._file.read(min(length, LARGEST_READ))
            self._load(position)
            offset = 0
        return self._window[offset : offset + length]

    def exactly(self, position: int, length: int) -> bytes:
        """`length` bytes; Malformed where the file ends earlier."""
        found = self.read(position, length)
        if len(found) < length:
            raise Malformed(f"ends in a header at byte {position}")
        return found

    def number(self, position: int, length: int) -> int:
        """A big-endian number of `length` bytes."""
        return int.from_bytes(self.exactly(position, length), "big")

    def window(self, position: int, *, least: int = 1) -> tuple[bytes, int]:
        """A piece of the file and the index of `position` in it; `least` bytes follow unless the file ends."""
        offset = position - self._window_start
        if offset < 0 or offset + least > len(self._window):
            self._load(position)
            offset = 0
        return self._window, offset

    def search(self, pattern: re.Pattern[bytes], position: int) -> int | None:
        """Where `pattern`, which matches exactly two bytes, is found first from `position` on."""
        while position + 1 < self.size:
            window, offset = self.window(position, least=2)
            if found := pattern.search(window, offset):
                return position - offset + found.start()
            position += len(window) - offset - 1  # the last byte may be the first half
        return None

    def after_padding(self, position: int) -> int:
        """The first byte from `position` on that is neither zero, 0xFF nor white space; the file's size if none."""
        while position < self.size:
            window, offset = self.window(position)
            piece = window[offset:]
            position += len(piece) - len(rest := piece.lstrip(_PADDING))
            if rest:
                break
        return position

    def count_part(self) -> None:
        """Each step of a walk passes here, so that no file can keep one busy."""
        self._parts_left -= 1
        if self._parts_left < 0:
            raise TooManyParts("has more parts than any honest file")

    def _load(self, position: int) -> None:
        self._file.seek(position)
        self._window = self._file.read(_WINDOW)
        self._window_start = position
