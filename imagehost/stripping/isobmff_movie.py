"""The description of a movie (moov) and of its fragments (moof): what stays of them, box by box.

Gone: user data and metadata (places, devices, titles), times of recording, names of handlers, paths of referenced
files, and whole tracks that are neither picture nor sound: cameras record positions, motion and captions with both.
"""

from bisect import bisect_right

from imagehost.stripping import isobmff_samples
from imagehost.stripping.boxes import Box, children, discard
from imagehost.stripping.errors import Malformed
from imagehost.stripping.overwriting import Overwrites
from imagehost.stripping.reading import Source

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


def blank_private(source: Source, blank: Overwrites, moov: Box, data: list[Box]) -> None:
    """`data`: the boxes (mdat) that samples may lie in."""
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
    """The children that stay, the others being discarded."""
    found = list(children(source, start, parent.end, blank))
    for box in found:
        if box.kind not in _KEPT_OF[parent.kind]:
            if box.kind == b"cmov":
                raise Malformed("a compressed movie header")
            discard(blank, box)
    return [box for box in found if box.kind in _KEPT_OF[parent.kind]]


def _track(source: Source, blank: Overwrites, trak: Box, data: list[Box]) -> bool:
    """Whether the track stays."""
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
            _kept(source, blank, box, box.body)  # references to tracks that are gone
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
    """Each says "this file" in its flags; a path or an address of another one is of no use to a viewer."""
    for table in _kept(source, blank, dinf, dinf.body):
        for entry in _kept(source, blank, table, table.body + _HEADLESS):
            blank.fill(entry.body + 4, entry.end)


def _blank_times(source: Source, blank: Overwrites, box: Box) -> None:
    """Creation and modification: the two fields behind version and flags."""
    version = source.number(box.body, 1)
    length = 16 if version == 1 else 8
    if box.body + 4 + length > box.end:
        raise Malformed(f"a header without its fields at byte {box.start}")
    blank.fill(box.body + 4, box.body + 4 + length)


def _blank_samples(source: Source, blank: Overwrites, media: Box, data: list[Box]) -> None:
    tables = _child(source, _child(source, media, b"minf"), b"stbl")
    found = {box.kind: box for box in children(source, tables.body, tables.end)}
    starts = [box.start for box in data]
    for start, end in isobmff_samples.ranges(source, found):
        before = bisect_right(starts, start)
        if before and start >= (box := data[before - 1]).body:
            blank.fill(start, min(end, box.end))


def _child(source: Source, parent: Box, kind: bytes) -> Box:
    for box in children(source, parent.body, parent.end):
        if box.kind == kind:
            return box
    raise Malformed(f"no {kind.decode()} in the box at byte {parent.start}")
