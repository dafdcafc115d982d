"""MP4, MOV and AVIF: private and unknown boxes become empty space in place, so no offset in the file changes.

Of the data (mdat) only samples of kept tracks and located items stay; all other bytes become zeros. Of the items of a
picture's `meta` box (ISO/IEC 14496-12, 8.11; HEIF) all but pictures are blanked: Exif, XMP and unknown ones.
"""

from collections.abc import Iterator
from typing import BinaryIO

from imagehost.examining.stripping import isobmff_movie, tails
from imagehost.examining.stripping.boxes import Box, Numbers, box_at, children, clean_colors, discard
from imagehost.examining.stripping.isobmff_movie import HANDLER_NAME, Movie
from imagehost.examining.stripping.isobmff_samples import Coverage
from imagehost.examining.stripping.nal_units import Units
from imagehost.examining.stripping.rewriting import ForeignBytes, Malformed, Overwrites, Source
from imagehost.media import AVIF

_SHORTEST = 8  # bytes of a box
_NO_KIND = bytes(4)  # padding
_LONGEST_BRANDS = 1024  # bytes of ftyp and styp
_PARTS = 1_000_000  # live recordings have seven boxes for each fragment
_KEPT = {b"ftyp", b"styp", b"moof", b"mdat", b"mfra", b"sidx", b"ssix", b"pdin", b"wide"}
_KEPT_OF_META = {b"hdlr", b"pitm", b"iloc", b"iinf", b"iprp", b"iref", b"idat", b"dinf", b"grpl", b"ipro"}
_PICTURES = {b"av01", b"grid", b"iovl", b"iden", b"tmap", b"sato", b"hvc1", b"avc1", b"jpeg", b"unci", b"mask"}
# Properties that describe: a name and tags, an alternative text, times of creation and change.
_DISCARDED_PROPERTIES = {b"udes", b"altt", b"crtt", b"mdft", b"uuid", b"free", b"skip"}
_EXIF, _XML = b"Exif", b"mime"
_EMPTY_EXIF = bytes(4) + b"II*\x00\x08" + bytes(9)  # an offset of 0 and a TIFF without tags

_Location = tuple[int, int, list[tuple[int, int]]]
"""An item, the method of its location (0 in the file, 1 in idat, 2 in another item), and (start, length) of parts."""


def strip(file: BinaryIO, *, is_image: bool = False) -> None:
    """Strip an MP4 or MOV, or an AVIF, also animated, whose Exif and XMP are items of `meta`.

    Of a film all up to the end of moov must be complete; after it only a last mdat may be truncated.
    """
    source = Source(file, parts=_PARTS)
    blank = Overwrites(source)
    boxes, end = _top(source, wanted=b"meta" if is_image else b"moov")
    data = [box for box in boxes if box.kind == b"mdat"]
    movie = Movie(Coverage(source), Units(source, blank))
    described = {b"moov", b"meta"} if is_image else {b"moov"}
    first = {box.kind: box for box in reversed(boxes) if box.kind in described}  # all that decoders read
    if meta := first.get(b"meta"):
        _meta(source, blank, meta, data, movie.coverage)
    if moov := first.get(b"moov"):
        isobmff_movie.blank_private(source, blank, moov, movie)
    for box in boxes:
        if box.kind == b"moof":
            isobmff_movie.blank_fragment(source, blank, box, movie)
        elif box.kind in {b"sidx", b"mfra"}:
            isobmff_movie.blank_index(source, blank, box, movie)
        elif box.kind == b"wide":
            blank.fill(box.body, box.end)
        elif box.kind not in _KEPT and box not in first.values():
            discard(blank, box)
    for start, stop in movie.coverage.rest(data):
        blank.fill(start, stop)
    blank.apply(file)
    if end < source.size:
        file.truncate(end)


def _top(source: Source, *, wanted: bytes) -> tuple[list[Box], int]:
    """Return the boxes of the whole file, and the end of the last one. Only a last mdat may be truncated.

    As in players, an invalid or too long box after the `wanted` one ends the file.
    """
    boxes: list[Box] = []
    start = 0
    while start + _SHORTEST <= source.size:
        try:
            box = box_at(source, start, limit=source.size)
            if (box.end > source.size and box.kind != b"mdat") or box.kind == _NO_KIND:
                raise Malformed(f"the box at byte {start} is none, or longer than the file")
        except Malformed:
            if not any(box.kind == wanted for box in boxes):
                raise
            break
        if box.kind in {b"ftyp", b"styp"} and box.end - box.start > _LONGEST_BRANDS:
            raise ForeignBytes("too long a list of brands")
        boxes.append(box)
        start = box.end
    if not any(box.kind == wanted for box in boxes):
        raise Malformed(f"has no {wanted.decode()}")
    tails.check(source, start)
    return boxes, min(start, source.size)


def _meta(source: Source, blank: Overwrites, meta: Box, data: list[Box], coverage: Coverage) -> None:
    """Blank private items and properties. `data`: the mdat boxes, which may contain items, as may idat.

    `coverage` gets the bytes of all items.
    """
    parts: dict[bytes, Box] = {}
    for box in children(source, meta.body + 4, meta.end, blank):
        if box.kind not in _KEPT_OF_META:
            discard(blank, box)
        elif box.kind in parts:
            raise Malformed(f"two boxes {box.kind!r} in meta")
        parts[box.kind] = box
    if hdlr := parts.get(b"hdlr"):
        blank.fill(hdlr.body + HANDLER_NAME, hdlr.end)
    if iprp := parts.get(b"iprp"):
        _blank_properties(source, blank, iprp)
    if {b"iloc", b"iinf"} <= parts.keys():  # otherwise the pictures are a track
        _blank_items(source, blank, parts, data, coverage)


def _blank_items(
    source: Source, blank: Overwrites, parts: dict[bytes, Box], data: list[Box], coverage: Coverage
) -> None:
    kinds = dict(_kinds(source, parts[b"iinf"]))
    for item, method, extents in _locations(source, parts[b"iloc"]):
        kind = kinds.get(item)
        if kind and method == 0:
            for start, length in extents:
                coverage.add(start, start + length if length else source.size)
        if kind and kind not in _PICTURES:
            _blank_item(blank, kind, method, extents, data, parts.get(b"idat"))


def _blank_properties(source: Source, blank: Overwrites, iprp: Box) -> None:
    """Empty private properties in place, as properties are referred to by number.

    Check the size of the composed picture, which decoders of its tiles do not check.
    """
    for container in children(source, iprp.body, iprp.end):
        for box in children(source, container.body, container.end) if container.kind == b"ipco" else ():
            if box.kind in _DISCARDED_PROPERTIES:
                discard(blank, box)
            elif box.kind == b"colr":
                clean_colors(source, blank, box)
            elif box.kind == b"ispe":
                width, height = source.number(box.body + 4, 4), source.number(box.body + 8, 4)
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
        yield item, method, extents


def _blank_item(
    blank: Overwrites, kind: bytes, method: int, extents: list[tuple[int, int]], data: list[Box], inside: Box | None
) -> None:
    """Blank an item, of which each part must be within a data box: it cannot refer to the file's structure."""
    if method > 1:
        raise Malformed("a private item made of another one")
    holders = [*data, inside] if inside else data
    base = inside.body if inside and method == 1 else 0
    places = [(base + start, base + start + length) for start, length in extents]
    if any(start == end or not any(box.body <= start and end <= box.end for box in holders) for start, end in places):
        raise Malformed("a private item that is not in the file's data")
    content = _EMPTY_EXIF if kind == _EXIF else b""
    for start, end in places:
        blank.fill(start, end, ord(" ") if kind == _XML else 0)
        blank.put(start, content[: end - start])
        content = content[end - start :]
