"""The items of a picture's `meta` box (ISO/IEC 14496-12, 8.11; HEIF): blanks Exif, XMP and all but pictures."""

from collections.abc import Iterator
from typing import NamedTuple

from imagehost.examining.stripping import isobmff_colours
from imagehost.examining.stripping.boxes import Box, Numbers, children, discard
from imagehost.examining.stripping.isobmff_samples import Coverage
from imagehost.examining.stripping.rewriting import Malformed, Overwrites, Source
from imagehost.media import AVIF

_KEPT = {b"hdlr", b"pitm", b"iloc", b"iinf", b"iprp", b"iref", b"idat", b"dinf", b"grpl", b"ipro"}
_PICTURES = {b"av01", b"grid", b"iovl", b"iden", b"tmap", b"sato", b"hvc1", b"avc1", b"jpeg", b"unci", b"mask"}
# Properties that describe: a name and tags, an alternative text, times of creation and change.
_DISCARDED_PROPERTIES = {b"udes", b"altt", b"crtt", b"mdft", b"uuid", b"free", b"skip"}
_EXIF, _XML = b"Exif", b"mime"
_EMPTY_EXIF = bytes(4) + b"II*\x00\x08" + bytes(9)  # an offset of 0 and a TIFF without tags
_HANDLER_NAME = 24  # bytes of hdlr before the name


class _Location(NamedTuple):
    """The location of an item's bytes. `method`: 0 in the file, 1 in idat, 2 in another item."""

    item: int
    method: int
    extents: list[tuple[int, int]]  # (start, length)


def blank_private(source: Source, blank: Overwrites, meta: Box, data: list[Box], coverage: Coverage) -> None:
    """Blank private items and properties. `data`: the mdat boxes, which may contain items, as may idat.

    `coverage` gets the bytes of all items.
    """
    parts: dict[bytes, Box] = {}
    for box in children(source, meta.body + 4, meta.end, blank):
        if box.kind not in _KEPT:
            discard(blank, box)
        elif box.kind in parts:
            raise Malformed(f"two boxes {box.kind!r} in meta")
        parts[box.kind] = box
    if b"hdlr" in parts:
        blank.fill(parts[b"hdlr"].body + _HANDLER_NAME, parts[b"hdlr"].end)
    if b"iprp" in parts:
        _blank_properties(source, blank, parts[b"iprp"])
    if {b"iloc", b"iinf"} <= parts.keys():  # otherwise the pictures are a track
        _blank_items(source, blank, parts, data, coverage)


def _blank_items(
    source: Source, blank: Overwrites, parts: dict[bytes, Box], data: list[Box], coverage: Coverage
) -> None:
    kinds = dict(_kinds(source, parts[b"iinf"]))
    for location in _locations(source, parts[b"iloc"]):
        kind = kinds.get(location.item)
        if kind and location.method == 0:
            for start, length in location.extents:
                coverage.add(start, start + length if length else source.size)
        if kind and kind not in _PICTURES:
            _blank_item(blank, kind, _absolute(location, data, parts.get(b"idat")))


def _blank_properties(source: Source, blank: Overwrites, iprp: Box) -> None:
    """Empty private properties in place, as properties are referred to by number."""
    for container in children(source, iprp.body, iprp.end):
        if container.kind == b"ipco":
            for box in children(source, container.body, container.end):
                if box.kind in _DISCARDED_PROPERTIES:
                    discard(blank, box)
                elif box.kind == b"colr":
                    isobmff_colours.clean(source, blank, box)
                elif box.kind == b"ispe":
                    _check_size(source, box)


def _check_size(source: Source, ispe: Box) -> None:
    """Check the size of the composed picture, which decoders of its tiles do not check."""
    width, height = source.number(ispe.body + 4, 4), source.number(ispe.body + 8, 4)
    if not 0 < width * height <= AVIF.max_pixels:
        raise Malformed(f"a picture of {width}x{height}")


def _kinds(source: Source, iinf: Box) -> Iterator[tuple[int, bytes]]:
    """Yield (item, its type); an old entry without a type gets one that is no picture."""
    counts = 2 if source.number(iinf.body, 1) == 0 else 4
    for box in children(source, iinf.body + 4 + counts, iinf.end):
        version = source.number(box.body, 1)
        width = 4 if version == 3 else 2
        kind = source.exactly(box.body + 6 + width, 4) if version >= 2 else b"none"
        yield source.number(box.body + 4, width), kind


def _locations(source: Source, iloc: Box) -> Iterator[_Location]:
    version, sizes = source.number(iloc.body, 1), source.number(iloc.body + 4, 2)
    if version > 2:
        raise Malformed(f"item locations of version {version}")
    of_offset, of_length, of_base, of_index = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    identity = 4 if version == 2 else 2
    numbers = Numbers(source, iloc.body + 6, iloc.end)
    for _ in range(numbers.take(identity)):
        source.count_part()
        item = numbers.take(identity)
        method = numbers.take(2) & 15 if version else 0
        numbers.take(2)  # which file
        base = numbers.take(of_base)
        extents = []
        for _ in range(numbers.take(2)):
            source.count_part()
            numbers.take(of_index if version else 0)
            start = base + numbers.take(of_offset)
            extents.append((start, numbers.take(of_length)))
        yield _Location(item, method, extents)


def _absolute(location: _Location, data: list[Box], inside: Box | None) -> list[tuple[int, int]]:
    """Return (start, end) in the file, each within a data box: an item cannot refer to the file's structure."""
    if location.method > 1:
        raise Malformed("a private item made of another one")
    holders = [*data, inside] if inside else data
    base = inside.body if inside and location.method == 1 else 0
    found = [(base + start, base + start + length) for start, length in location.extents]
    for start, end in found:
        if start == end or not any(box.body <= start and end <= box.end for box in holders):
            raise Malformed("a private item that is not in the file's data")
    return found


def _blank_item(blank: Overwrites, kind: bytes, extents: list[tuple[int, int]]) -> None:
    content = _EMPTY_EXIF if kind == _EXIF else b""
    for start, end in extents:
        blank.fill(start, end, ord(" ") if kind == _XML else 0)
        blank.put(start, content[: end - start])
        content = content[end - start :]
