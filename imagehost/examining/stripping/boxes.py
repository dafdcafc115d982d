"""The boxes of ISO base media files (ISO/IEC 14496-12, 4.2), called atoms in QuickTime."""

from collections.abc import Iterator
from typing import NamedTuple

from imagehost.examining.stripping import icc
from imagehost.examining.stripping.rewriting import Malformed, Overwrites, Source

_HEADER, _LONG_HEADER = 8, 16  # bytes
_PROFILES = {b"prof", b"rICC"}


class Box(NamedTuple):
    kind: bytes
    start: int
    body: int
    end: int


def box_at(source: Source, start: int, *, limit: int) -> Box:
    """Return the box at `start`, whose `end` may be after `limit`; size 0 means up to `limit`."""
    source.count_part()
    head = source.read(start, _LONG_HEADER)
    size, length = int.from_bytes(head[:4], "big"), _HEADER
    if size == 1:
        size, length = int.from_bytes(head[8:], "big"), _LONG_HEADER
    elif size == 0:
        size = limit - start
    if len(head) < length or size < length:
        raise Malformed(f"a box of {size} bytes at byte {start}")
    return Box(head[4:8], start, start + length, start + size)


def children(source: Source, start: int, end: int, blank: Overwrites | None = None) -> Iterator[Box]:
    """Yield the boxes between `start` and `end`, up to the first invalid one; QuickTime may end them with zeros.

    The rest is added to `blank`; without `blank` it raises Malformed.
    """
    while start + _HEADER <= end and source.number(start, 4):
        try:
            box = box_at(source, start, limit=end)
            if box.end > end:
                raise Malformed(f"the box at byte {start} is longer than its parent")
        except Malformed:
            if not blank:
                raise
            break
        yield box
        start = box.end
    if blank:
        blank.fill(start, end)


def discard(blank: Overwrites, box: Box) -> None:
    """Turn the box into a `free` box of equal size (8.1.2)."""
    blank.put(box.start + 4, b"free")
    blank.fill(box.body, box.end)


def clean_colors(source: Source, blank: Overwrites, colr: Box) -> None:
    """Clean the profile in a color box (12.1.5) of a picture or track."""
    if source.read(colr.body, 4) not in _PROFILES:
        return
    profile = icc.cleaned(source.whole(colr.body + 4, colr.end, most=icc.LARGEST))
    if profile is None:
        discard(blank, colr)
    else:
        blank.put(colr.body + 4, profile)


class Numbers:
    """Consecutive big-endian numbers from `position` up to `end`."""

    def __init__(self, source: Source, position: int, end: int) -> None:
        self._source = source
        self._end = end
        self.position = position

    def take(self, length: int) -> int:
        """Return the next number, of `length` bytes."""
        self.skip(length)
        return self._source.number(self.position - length, length)

    def skip(self, length: int) -> None:
        self.position += length
        if self.position > self._end:
            raise Malformed("a table that ends in an entry")
