"""Removes private data from the description of a movie (moov) and its fragments (moof), box by box.

These are user data and metadata (places, devices, titles), times of recording, names of handlers, paths of referenced
files, and all tracks but pictures and sound, in which cameras record positions, motion and captions.
"""

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from imagehost.stripping.boxes import Box, children, discard
from imagehost.stripping.rewriting import Malformed, Overwrites, Source

_KEPT = {
    b"moov": b"mvhd trak mvex iods pssh ctab prfl",
    b"trak": b"tkhd edts tref mdia trgr tapt clip matt load",
    b"mdia": b"mdhd hdlr minf elng",
    b"minf": b"vmhd smhd hmhd nmhd sthd gmhd dinf stbl hdlr",
    b"dinf": b"dref",
    b"dref": b"url  urn  alis rsrc",
    b"stbl": b"stsd stts ctts cslg stsc stsz stz2 stco co64 stss stsh stps sdtp stdp padb sbgp sgpd csgp subs "
    b"saiz saio senc",
    b"tref": b"auxl sync vdep vplx dpnd scal sbas prem thmb fall adda",
    b"moof": b"mfhd traf pssh",
    b"traf": b"tfhd tfdt trun sbgp sgpd csgp subs saiz saio senc",
}
_KEPT_OF = {kind: {names[i : i + 4] for i in range(0, len(names), 5)} for kind, names in _KEPT.items()}
_PICTURE_OR_SOUND = {b"vide", b"soun", b"auxv", b"pict"}
_DATED = {b"mvhd", b"tkhd", b"mdhd"}
_HEADLESS = 8  # bytes of version, flags and count before the entries of dref
_HANDLER_NAME = 24  # bytes of hdlr before the name


_MOST_CHUNKS, _MOST_RUNS, _MOST_SAMPLES = 500_000, 200_000, 8_000_000
_AT_ONCE = 1 << 16  # table entries


def blank_private(source: Source, blank: Overwrites, moov: Box, data: list[Box]) -> None:
    """`data`: the mdat boxes, which contain samples."""
    tracks = 0
    for box in _kept(source, blank, moov, moov.body):
        if box.kind == b"mvhd":
            _blank_times(source, blank, box)
        elif box.kind == b"trak":
            tracks += _track(source, blank, box, data)
    if not tracks:
        raise Malformed("has neither picture nor sound")


def blank_fragment(source: Source, blank: Overwrites, moof: Box) -> None:
    for box in _kept(source, blank, moof, moof.body):
        if box.kind == b"traf":
            for _ in _kept(source, blank, box, box.body):
                pass


def _kept(source: Source, blank: Overwrites, parent: Box, start: int) -> list[Box]:
    """Discard the children that are not listed; return the others."""
    found = list(children(source, start, parent.end, blank))
    for box in found:
        if box.kind not in _KEPT_OF[parent.kind]:
            if box.kind == b"cmov":
                raise Malformed("a compressed movie header")
            discard(blank, box)
    return [box for box in found if box.kind in _KEPT_OF[parent.kind]]


def _track(source: Source, blank: Overwrites, trak: Box, data: list[Box]) -> bool:
    """Handle a track; whether it stays."""
    media = _child(source, trak, b"mdia")
    handler = _child(source, media, b"hdlr")
    if source.exactly(handler.body + 8, 4) not in _PICTURE_OR_SOUND:
        _blank_samples(source, blank, media, data)
        discard(blank, trak)
        return False
    for box in _kept(source, blank, trak, trak.body):
        if box.kind == b"tkhd":
            _blank_times(source, blank, box)
        elif box.kind == b"tref":
            _kept(source, blank, box, box.body)  # references to removed tracks
        elif box.kind == b"mdia":
            _media(source, blank, box)
    return True


def _media(source: Source, blank: Overwrites, media: Box) -> None:
    for box in _kept(source, blank, media, media.body):
        if box.kind == b"mdhd":
            _blank_times(source, blank, box)
        elif box.kind == b"hdlr":
            blank.fill(box.body + _HANDLER_NAME, box.end)
        elif box.kind == b"minf":
            for part in _kept(source, blank, box, box.body):
                if part.kind == b"hdlr":
                    blank.fill(part.body + _HANDLER_NAME, part.end)
                elif part.kind == b"dinf":
                    _references(source, blank, part)
                elif part.kind == b"stbl":
                    _kept(source, blank, part, part.body)


def _references(source: Source, blank: Overwrites, dinf: Box) -> None:
    """Blank the entries' paths and addresses of other files; their flags mean "this file"."""
    for table in _kept(source, blank, dinf, dinf.body):
        for entry in _kept(source, blank, table, table.body + _HEADLESS):
            blank.fill(entry.body + 4, entry.end)


def _blank_times(source: Source, blank: Overwrites, box: Box) -> None:
    """Blank the creation and modification times, which follow version and flags."""
    version = source.number(box.body, 1)
    length = 16 if version == 1 else 8
    if box.body + 4 + length > box.end:
        raise Malformed(f"a header without its fields at byte {box.start}")
    blank.fill(box.body + 4, box.body + 4 + length)


def _blank_samples(source: Source, blank: Overwrites, media: Box, data: list[Box]) -> None:
    tables = _child(source, _child(source, media, b"minf"), b"stbl")
    found = {box.kind: box for box in children(source, tables.body, tables.end)}
    starts = [box.start for box in data]
    for start, end in _sample_ranges(source, found):
        before = bisect_right(starts, start)
        if before and start >= (box := data[before - 1]).body:
            blank.fill(start, min(end, box.end))


def _child(source: Source, parent: Box, kind: bytes) -> Box:
    for box in children(source, parent.body, parent.end):
        if box.kind == kind:
            return box
    raise Malformed(f"no {kind.decode()} in the box at byte {parent.start}")


def _sample_ranges(source: Source, tables: dict[bytes, Box]) -> Iterator[tuple[int, int]]:
    """(start, end) of each chunk by the tables; none for a track whose samples are in fragments.

    `tables`: the children of stbl by type. Compact sizes (stz2), which no recorder of metadata writes, yield none.
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
    """(first chunk, the chunk after the last, samples in each), chunks counted from 0."""
    count = _count(source, box, at=4, width=12, most=_MOST_RUNS)
    positions = range(box.body + 8, box.body + 8 + count * 12, 12)
    starts = [source.number(position, 4) - 1 for position in positions]
    for (first, last), position in zip(pairwise([*starts, chunks]), positions, strict=True):
        yield max(first, 0), min(last, chunks), source.number(position + 4, 4)


class _Sizes:
    """The sizes of samples, in order. `left`: how many remain."""

    def __init__(self, source: Source, box: Box) -> None:
        self._source = source
        self._same = source.number(box.body + 4, 4)
        width = 0 if self._same else 4
        self.left = _count(source, box, at=8, width=width, most=_MOST_SAMPLES)
        self._position = box.body + 12

    def take(self, samples: int) -> int:
        """The bytes of the next `samples` samples, or of those that remain."""
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
