"""The samples of a track, by the tables of `stbl` (ISO/IEC 14496-12, 8.7) and by the runs of `traf` (8.8)."""

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise, repeat
from typing import NamedTuple

from imagehost.examining.stripping.boxes import Box, Numbers, children
from imagehost.examining.stripping.rewriting import Malformed, Overwrites, Source, TooManyParts

_MOST_RANGES = 1_000_000  # of a film of 250 MB: one for each 250 bytes
_AT_ONCE = 60_000  # numbers of a table; whole samples of a run, whose fields are 1 to 4
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}  # of `array`, by the bytes of a number
_BASE, _ENTRY, _DURATION, _SIZE, _FROM_FRAGMENT = 0x1, 0x2, 0x8, 0x10, 0x20000  # flags of tfhd
_OFFSET, _FIRST_FLAGS, _DURATIONS, _SIZES = 0x1, 0x4, 0x100, 0x200  # flags of trun
_OF_SAMPLES = (_DURATIONS, _SIZES, 0x400, 0x800)  # the fields of each sample
# Of a sample of uncompressed sound, by the format; 0: as its entry says.
_BITS = {
    b"NONE": 0, b"raw ": 0, b"twos": 0, b"sowt": 0, b"lpcm": 0, b"in24": 24, b"in32": 32, b"fl32": 32, b"fl64": 64,
    b"ulaw": 8, b"alaw": 8,
}  # fmt: skip


class Run(NamedTuple):
    """Consecutive samples. `entry`: the number of their sample entry, from 1."""

    start: int
    end: int
    sizes: Iterable[int]
    entry: int


class Defaults(NamedTuple):
    """The sample entry and size of a track's samples in fragments, by `trex`."""

    entry: int = 1
    size: int = 0


class Coverage:
    """The bytes that samples and items occupy; `rest` finds the unoccupied ones."""

    def __init__(self, source: Source) -> None:
        self._size = source.size
        self._ranges: list[int] = []  # start << 64 | end, which takes less memory than tuples
        self._open: list[int] = []
        self._marks: list[int] = []
        self._left = _MOST_RANGES

    def add(self, start: int, end: int) -> None:
        start, end = max(start, 0), min(end, self._size)
        if start >= end:
            return
        if self._ranges and self._ranges[-1] & _LOW == start:
            self._ranges[-1] += end - start
        else:
            self._note(self._ranges, start << 64 | end)

    def add_open(self, start: int, end: int | None = None) -> None:
        """Add what follows `start`, up to the next range or mark, and at most up to `end`."""
        if 0 <= start < self._size:
            self._note(self._open, start << 64 | (self._size if end is None else end))

    def mark(self, start: int) -> None:
        """End an open range at `start`."""
        self._note(self._marks, start)

    def _note(self, numbers: list[int], number: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyParts("has more runs of samples than any real film")
        numbers.append(number)

    def rest(self, boxes: list[Box]) -> Iterator[tuple[int, int]]:
        """Yield the parts of the bodies of `boxes`, which are in the file's order, that nothing occupies."""
        if self._open:
            found = chain(self._ranges, self._open)
            starts = sorted(chain((both >> 64 for both in found), self._marks, [self._size]))
            for start, end in ((both >> 64, both & _LOW) for both in self._open):
                self._ranges.append(start << 64 | min(end, starts[bisect_right(starts, start)]))
        ranges = ((found >> 64, found & _LOW) for found in sorted(self._ranges))
        start, end = next(ranges, _NONE)
        for box in boxes:
            position = box.body
            while start < box.end:
                if position < start:
                    yield position, start
                position = max(position, end)
                if end >= box.end:
                    break
                start, end = next(ranges, _NONE)
            if position < box.end:
                yield position, box.end


_LOW = (1 << 64) - 1
_NONE = (1 << 64, 1 << 64)


def of_tables(source: Source, stbl: Box) -> Iterator[Run]:
    """Yield the samples by the tables, chunk by chunk; none for a track whose samples are in fragments."""
    tables = {box.kind: box for box in children(source, stbl.body, stbl.end)}
    offsets = tables.get(b"stco") or tables.get(b"co64")
    sizes = tables.get(b"stsz") or tables.get(b"stz2")
    if offsets is None or sizes is None or b"stsc" not in tables:
        return
    width = 8 if offsets.kind == b"co64" else 4
    chunks = _count(source, offsets, at=4, width=width)
    remaining = _Sizes(source, sizes)
    starts = chain.from_iterable(_numbers(source, offsets.body + 8, chunks, width))
    for start, (samples, entry) in zip(starts, _of_chunks(source, tables[b"stsc"], chunks), strict=False):
        position = start
        for length, each in remaining.take(samples):
            yield Run(position, position + length, each, entry)
            position += length
        if not remaining.left:
            return


def bytes_of_sound(source: Source, stsd: Box) -> int:
    """Return the most bytes that a sample of all channels has by the sample entries; 0: one is compressed or broken."""
    try:
        found = [_bytes_of_entry(source, entry) for entry in children(source, stsd.body + 8, stsd.end)]
    except Malformed:
        return 0
    return max(found) if found and all(found) else 0


def _bytes_of_entry(source: Source, entry: Box) -> int:
    """Return the bytes of a sample, by QuickTime's three versions of a sound description."""
    if entry.kind not in _BITS:
        return 0
    numbers = Numbers(source, entry.body + 8, entry.end)
    version = numbers.take(2)
    numbers.skip(6)
    channels, bits, whole = numbers.take(2), numbers.take(2), 0
    if version == 1:
        numbers.skip(16)
        whole = numbers.take(4)
    elif version == 2:
        numbers.skip(20)
        channels = numbers.take(4)
        numbers.skip(4)
        bits = numbers.take(4)
    return max(channels * (((_BITS[entry.kind] or bits) + 7) // 8), whole)


def _count(source: Source, box: Box, *, at: int, width: int) -> int:
    count = source.number(box.body + at, 4)
    if box.body + at + 4 + count * width > box.end:
        raise Malformed(f"a table of {count} entries at byte {box.start}")
    return count


def _numbers(source: Source, start: int, count: int, width: int) -> Iterator["array[int]"]:
    """Yield big-endian numbers of `width` bytes."""
    for first in range(0, count, _AT_ONCE):
        some = min(_AT_ONCE, count - first)
        numbers = array(_CODES[width], source.exactly(start + first * width, some * width))
        if sys.byteorder == "little":
            numbers.byteswap()
        yield numbers


def _of_chunks(source: Source, stsc: Box, chunks: int) -> Iterator[tuple[int, int]]:
    """Yield (samples, number of the sample entry) of each chunk."""
    flat = chain.from_iterable(_numbers(source, stsc.body + 8, 3 * _count(source, stsc, at=4, width=12), 4))
    rows = zip(flat, flat, flat, strict=True)
    expected = 1
    for (first, samples, entry), (following, _, _) in pairwise(chain(rows, [(1 << 32, 0, 0)])):
        if first != expected or following <= first or not samples:
            raise Malformed(f"a table of chunks that is not in order at byte {stsc.start}")
        yield from repeat((samples, entry), min(following, chunks + 1) - first)
        expected = following


class _Sizes:
    """The sizes of samples by `stsz` or `stz2`, in order. `left`: how many remain."""

    def __init__(self, source: Source, box: Box) -> None:
        bits = 32 if box.kind == b"stsz" else source.number(box.body + 7, 1)
        if bits not in {4, 8, 16, 32}:
            raise Malformed(f"sizes of {bits} bits at byte {box.start}")
        self._same = source.number(box.body + 4, 4) if bits == 32 else 0
        self.left = source.number(box.body + 8, 4)
        if not self._same and box.body + 12 + (self.left * bits + 7) // 8 > box.end:
            raise Malformed(f"a table of {self.left} sizes at byte {box.start}")
        units = (self.left + 1) // 2 if bits == 4 else self.left
        self._tables = _numbers(source, box.body + 12, units, max(bits // 8, 1))
        if bits == 4:
            self._tables = (
                array("B", chain.from_iterable((two >> 4, two & 15) for two in some)) for some in self._tables
            )
        self._table = array("B")
        self._next = 0

    def take(self, samples: int) -> Iterator[tuple[int, Iterable[int]]]:
        """Yield (bytes together, bytes of each) of at most `samples` next samples, in pieces."""
        samples = min(samples, self.left)
        self.left -= samples
        if self._same:
            yield self._same * samples, repeat(self._same, samples)
            return
        while samples:
            if self._next >= len(self._table):
                self._table, self._next = next(self._tables), 0
            some = self._table[self._next : self._next + samples]
            self._next += len(some)
            samples -= len(some)
            yield sum(some), some


class Fragment(NamedTuple):
    """A `tfhd`. `base`: the position from which its runs count; `follows`: it is where the fragment before ends."""

    track: int
    base: int
    follows: bool
    entry: int
    size: int


def fragment(source: Source, tfhd: Box, defaults: dict[int, Defaults], *, moof: int, behind: int) -> Fragment:
    """Return the fragment of a `tfhd`. `moof`: its position; `behind`: the end of the fragment before, in that moof."""
    numbers = Numbers(source, tfhd.body, tfhd.end)
    flags, track = numbers.take(4), numbers.take(4)
    base = numbers.take(8) if flags & _BASE else moof if flags & _FROM_FRAGMENT else behind
    entry, size = defaults.get(track, Defaults())
    entry = numbers.take(4) if flags & _ENTRY else entry
    numbers.take(4 if flags & _DURATION else 0)
    return Fragment(
        track, base, not flags & (_BASE | _FROM_FRAGMENT), entry, numbers.take(4) if flags & _SIZE else size
    )


def of_fragment(source: Source, found: Fragment, truns: list[Box]) -> Iterator[Run]:
    """Yield the samples of a fragment. A run without an offset follows the one before."""
    position = found.base
    for trun in truns:
        numbers = Numbers(source, trun.body, trun.end)
        flags, count = numbers.take(4), numbers.take(4)
        if flags & _OFFSET:
            offset = numbers.take(4)
            position = found.base + offset - (offset >> 31 << 32)
        numbers.take(4 if flags & _FIRST_FLAGS else 0)
        fields = [flag for flag in _OF_SAMPLES if flags & flag]
        start, length = numbers.position, 4 * len(fields) * count
        if start + length > trun.end:
            raise Malformed(f"a run of {count} samples at byte {trun.start}")
        tables: Iterable[Iterable[int]] = [repeat(found.size, count)]
        if flags & _SIZES:
            rows = _numbers(source, start, len(fields) * count, 4)
            tables = (some[fields.index(_SIZES) :: len(fields)] for some in rows)
        for sizes in tables:
            end = position + (sum(sizes) if flags & _SIZES else found.size * count)
            yield Run(position, end, sizes, found.entry)
            position = end


def count_from_moof(source: Source, blank: Overwrites, tfhd: Box, truns: list[Box], *, by: int) -> None:
    """Make the offsets of a fragment count from its moof instead of a position that is `by` bytes behind it."""
    blank.put(tfhd.body + 1, bytes([source.number(tfhd.body + 1, 1) | _FROM_FRAGMENT >> 16]))
    for number, trun in enumerate(truns):
        if source.number(trun.body + 1, 3) & _OFFSET:
            offset = by + int.from_bytes(source.exactly(trun.body + 8, 4), "big", signed=True)
            if not -1 << 31 <= offset < 1 << 31:
                raise Malformed(f"a fragment that is too far from its data at byte {tfhd.start}")
            blank.put(trun.body + 8, offset.to_bytes(4, "big", signed=True))
        elif not number:
            raise Malformed(f"a fragment that only follows a removed one at byte {tfhd.start}")
