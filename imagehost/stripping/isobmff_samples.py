"""Where the samples of a track lie: its sample tables (ISO/IEC 14496-12, 8.7)."""

import sys
from array import array
from collections.abc import Iterator
from itertools import pairwise

from imagehost.stripping.boxes import Box
from imagehost.stripping.errors import Malformed
from imagehost.stripping.reading import Source

_MOST_CHUNKS, _MOST_RUNS, _MOST_SAMPLES = 500_000, 200_000, 8_000_000
_AT_ONCE = 1 << 16  # table entries


def ranges(source: Source, tables: dict[bytes, Box]) -> Iterator[tuple[int, int]]:
    """(start, end) of each chunk, as the tables say it; nothing of a track whose samples are in fragments.

    `tables`: the children of stbl by type. Compact sizes (stz2), which no recorder of metadata writes, yield nothing.
    """
    offsets = tables.get(b"stco") or tables.get(b"co64")
    if offsets is None or not {b"stsz", b"stsc"} <= tables.keys():
        return
    width = 8 if offsets.kind == b"co64" else 4
    chunks = _count(source, offsets, at=4, width=width, most=_MOST_CHUNKS)
    sizes = _Sizes(source, tables[b"stsz"])
    for first, last, samples in _runs(source, tables[b"stsc"], chunks):
        for chunk in range(first, last):
            if not sizes.left:
                return
            source.count_part()
            start = source.number(offsets.body + 8 + chunk * width, width)
            yield start, start + sizes.take(samples)


def _count(source: Source, box: Box, *, at: int, width: int, most: int) -> int:
    count = source.number(box.body + at, 4)
    if count > most or box.body + at + 4 + count * width > box.end:
        raise Malformed(f"a table of {count} entries at byte {box.start}")
    return count


def _runs(source: Source, box: Box, chunks: int) -> Iterator[tuple[int, int, int]]:
    """(first chunk, the chunk behind the last, samples in each), chunks counted from 0."""
    count = _count(source, box, at=4, width=12, most=_MOST_RUNS)
    positions = range(box.body + 8, box.body + 8 + count * 12, 12)
    starts = [source.number(position, 4) - 1 for position in positions]
    for (first, last), position in zip(pairwise([*starts, chunks]), positions, strict=True):
        yield max(first, 0), min(last, chunks), source.number(position + 4, 4)


class _Sizes:
    """The sizes of samples, taken in order. `left`: how many more there are."""

    def __init__(self, source: Source, box: Box) -> None:
        self._source = source
        self._same = source.number(box.body + 4, 4)
        width = 0 if self._same else 4
        self.left = _count(source, box, at=8, width=width, most=_MOST_SAMPLES)
        self._position = box.body + 12

    def take(self, samples: int) -> int:
        """Bytes of the next `samples` samples, or of those that are left."""
        samples = min(samples, self.left)
        self.left -= samples
        if self._same:
            return self._same * samples
        total = 0
        while samples:
            count = min(samples, _AT_ONCE)
            sizes = array("I", self._source.exactly(self._position, 4 * count))
            if sys.byteorder == "little":
                sizes.byteswap()
            total += sum(sizes)
            self._position += 4 * count
            samples -= count
        return total
