"""What is blanked of a file whose offsets must stay: collected while it is walked, written afterwards."""

from typing import BinaryIO, NamedTuple

from imagehost.stripping.errors import TooManyParts
from imagehost.stripping.reading import LARGEST_READ, Source

_MOST = 500_000  # pieces


class _Range(NamedTuple):
    start: int
    end: int


class Overwrites:
    """Ranges of one repeated byte first, then literal bytes over them. Each is held against the file's end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ranges: dict[int, list[_Range]] = {}
        self._literals: list[tuple[int, bytes]] = []
        self._pieces_left = _MOST

    def fill(self, start: int, end: int, byte: int = 0) -> None:
        end = min(end, self._source.size)
        if start < end:
            self._count()
            self._ranges.setdefault(byte, []).append(_Range(start, end))

    def put(self, start: int, content: bytes) -> None:
        if content := content[: max(0, self._source.size - start)]:
            self._count()
            self._literals.append((start, content))

    def _count(self) -> None:
        self._pieces_left -= 1
        if self._pieces_left < 0:
            raise TooManyParts("has more private parts than any honest file")

    def apply(self, file: BinaryIO) -> None:
        """Reads before it writes: what is blank already is left alone."""
        for byte, ranges in sorted(self._ranges.items()):
            for start, end in _merged(ranges):
                for position in range(start, end, LARGEST_READ):
                    _put(file, position, bytes([byte]) * min(LARGEST_READ, end - position))
        for start, content in self._literals:
            _put(file, start, content)


def _merged(ranges: list[_Range]) -> list[_Range]:
    """In order and apart, so that ranges which name the same bytes a thousand times cost one write."""
    merged: list[_Range] = []
    for found in sorted(ranges):
        if merged and found.start <= merged[-1].end:
            merged[-1] = _Range(merged[-1].start, max(merged[-1].end, found.end))
        else:
            merged.append(found)
    return merged


def _put(file: BinaryIO, start: int, content: bytes) -> None:
    file.seek(start)
    if file.read(len(content)) != content:
        file.seek(start)
        file.write(content)
