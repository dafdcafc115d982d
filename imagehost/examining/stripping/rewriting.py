"""Reading a file in small pieces and rewriting it in place, for all containers.

A walk reads from a `Source`, collects the bytes to blank (`Overwrites`) or to keep (`Plan`), and writes afterwards.
"""

import os
import re
from typing import BinaryIO, NamedTuple

LARGEST_READ = 1 << 20  # bytes
_WINDOW = 1 << 16  # bytes; neighboring headers come out of one read
_FIRST_WINDOW = 1 << 12  # bytes behind a jump: the walk over a film's samples reads a few bytes of each
_PADDING = b"\x00\xff\t\n\r "
_MOST = 500_000  # pieces


class Refusal(ValueError):
    """The file is refused, and unchanged."""


class ForeignBytes(Refusal):
    """Content outside of the format: an archive or a script after an image."""


class Malformed(Refusal):
    """The container's structure is broken: a truncated header, a box longer than its parent, no image."""


class TooManyParts(Refusal):
    """The walk takes longer than that of any real file."""


class Source:
    """The bytes of `file` by position. `parts`: how many parts a walk may count before TooManyParts."""

    def __init__(self, file: BinaryIO, *, parts: int = 200_000) -> None:
        self._file = file
        self.size = file.seek(0, os.SEEK_END)
        self._parts_left = parts
        self._window = b""
        self._window_start = 0

    def read(self, position: int, length: int) -> bytes:
        """Return up to `length` bytes (at most LARGEST_READ), fewer only at the file's end."""
        offset = position - self._window_start
        if offset < 0 or offset + length > len(self._window):
            if length > _WINDOW:
                self._file.seek(position)
                return self._file.read(min(length, LARGEST_READ))
            self._load(position, length)
            offset = 0
        return self._window[offset : offset + length]

    def exactly(self, position: int, length: int) -> bytes:
        """Return `length` bytes. Raises Malformed where the file ends earlier."""
        found = self.read(position, length)
        if len(found) < length:
            raise Malformed(f"ends in a header at byte {position}")
        return found

    def whole(self, start: int, end: int, *, most: int) -> bytes:
        """Return the bytes from `start` to `end`, in pieces. Malformed: more than `most`, or the file ends earlier."""
        if end - start > most:
            raise Malformed(f"{end - start} bytes at byte {start} are more than {most}")
        pieces = range(start, end, LARGEST_READ)
        return b"".join(self.exactly(at, min(LARGEST_READ, end - at)) for at in pieces)

    def number(self, position: int, length: int) -> int:
        """Return a big-endian number of `length` bytes."""
        return int.from_bytes(self.exactly(position, length), "big")

    def window(self, position: int, *, least: int = 1) -> tuple[bytes, int]:
        """Return a piece of the file and the index of `position` in it, with `least` bytes after it if they exist."""
        offset = position - self._window_start
        if offset < 0 or offset + least > len(self._window):
            self._load(position, least)
            offset = 0
        return self._window, offset

    def search(self, pattern: re.Pattern[bytes], position: int) -> int | None:
        """Return the first match of `pattern`, which matches exactly two bytes, from `position` on."""
        while position + 1 < self.size:
            window, offset = self.window(position, least=2)
            if found := pattern.search(window, offset):
                return position - offset + found.start()
            position += len(window) - offset - 1  # the last byte may be the first half
        return None

    def after_padding(self, position: int) -> int:
        """Return the first position from `position` on without zero, 0xFF or white space; the file's size if none."""
        while position < self.size:
            window, offset = self.window(position)
            piece = window[offset:]
            position += len(piece) - len(rest := piece.lstrip(_PADDING))
            if rest:
                break
        return position

    def count_part(self) -> None:
        """Count a step of a walk. Raises TooManyParts."""
        self._parts_left -= 1
        if self._parts_left < 0:
            raise TooManyParts("has more parts than any real file")

    def _load(self, position: int, least: int) -> None:
        is_near = 0 <= position - self._window_start <= len(self._window)
        self._file.seek(position)
        self._window = self._file.read(_WINDOW if is_near else max(_FIRST_WINDOW, least))
        self._window_start = position


class Overwrites:
    """Ranges to fill with one byte, then literal bytes over them, all cut at the file's end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ranges: dict[int, list[tuple[int, int]]] = {}
        self._literals: list[tuple[int, bytes]] = []
        self._pieces_left = _MOST

    def fill(self, start: int, end: int, byte: int = 0) -> None:
        end = min(end, self._source.size)
        if start < end:
            self._count()
            self._ranges.setdefault(byte, []).append((start, end))

    def put(self, start: int, content: bytes) -> None:
        if content := content[: max(0, self._source.size - start)]:
            self._count()
            self._literals.append((start, content))

    def _count(self) -> None:
        self._pieces_left -= 1
        if self._pieces_left < 0:
            raise TooManyParts("has more private parts than any real file")

    def apply(self, file: BinaryIO) -> None:
        """Write the changes; bytes that are right already are not written."""
        for byte, ranges in sorted(self._ranges.items()):
            merged: list[tuple[int, int]] = []  # so that overlapping ranges cost one write
            for start, end in sorted(ranges):
                if merged and start <= merged[-1][1]:
                    merged[-1] = merged[-1][0], max(merged[-1][1], end)
                else:
                    merged.append((start, end))
            for start, end in merged:
                for position in range(start, end, LARGEST_READ):
                    _put(file, position, bytes([byte]) * min(LARGEST_READ, end - position))
        for start, content in self._literals:
            _put(file, start, content)


def _put(file: BinaryIO, start: int, content: bytes) -> None:
    file.seek(start)
    if file.read(len(content)) != content:
        file.seek(start)
        file.write(content)


class _Piece(NamedTuple):
    start: int
    end: int
    content: bytes | None  # instead of the file's bytes


class Plan:
    """The new content of a file, collected in its order; `apply` writes it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pieces: list[_Piece] = []

    @property
    def length(self) -> int:
        """Return the bytes of the new content."""
        return sum(piece.end - piece.start if piece.content is None else len(piece.content) for piece in self._pieces)

    def keep(self, start: int, end: int) -> None:
        if start >= end:
            return
        if self._pieces and self._pieces[-1].content is None and self._pieces[-1].end == start:
            start = self._pieces.pop().start
        self._pieces.append(_Piece(start, end, None))

    def replace(self, start: int, end: int, content: bytes) -> None:
        """Replace the bytes from `start` to `end` with `content`, which is not longer."""
        if len(content) > end - start:
            raise AssertionError("a replacement must fit where the original was")
        if content == self._source.read(start, end - start):
            self.keep(start, end)
        else:
            self._pieces.append(_Piece(start, end, content))

    def extend(self, other: "Plan") -> None:
        """Append the pieces of `other`."""
        for piece in other._pieces:
            if piece.content is None:
                self.keep(piece.start, piece.end)
            else:
                self._pieces.append(piece)

    def apply(self, file: BinaryIO) -> None:
        if self._pieces == [_Piece(0, self._source.size, None)]:
            return
        written = 0
        for piece in self._pieces:
            if piece.content is not None:
                file.seek(written)
                file.write(piece.content)
                written += len(piece.content)
                continue
            # Towards the start, in chunks: a chunk never overwrites unread bytes.
            for position in range(piece.start, piece.end, LARGEST_READ) if piece.start != written else ():
                file.seek(position)
                chunk = file.read(min(LARGEST_READ, piece.end - position))
                file.seek(written + position - piece.start)
                file.write(chunk)
            written += piece.end - piece.start
        file.truncate(written)
