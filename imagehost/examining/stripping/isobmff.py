"""MP4, MOV and AVIF: private and unknown boxes become empty space in place, so no offset in the file changes.

Of the data (mdat) only samples of kept tracks and located items stay; all other bytes become zeros.
"""

from typing import BinaryIO

from imagehost.examining.stripping import isobmff_items, isobmff_movie, tails
from imagehost.examining.stripping.boxes import Box, box_at, discard
from imagehost.examining.stripping.isobmff_movie import Movie
from imagehost.examining.stripping.isobmff_samples import Coverage
from imagehost.examining.stripping.nal_units import Units
from imagehost.examining.stripping.rewriting import ForeignBytes, Malformed, Overwrites, Source

_SHORTEST = 8  # bytes of a box
_NO_KIND = bytes(4)  # padding
_LONGEST_BRANDS = 1024  # bytes of ftyp and styp
_PARTS = 1_000_000  # live recordings have seven boxes for each fragment
_KEPT = {b"ftyp", b"styp", b"moof", b"mdat", b"mfra", b"sidx", b"ssix", b"pdin", b"wide"}


def strip_video(file: BinaryIO) -> None:
    """Strip an MP4 or MOV. All up to the end of moov must be complete; after it only a last mdat may be truncated."""
    _strip(file, is_image=False)


def strip_image(file: BinaryIO) -> None:
    """Strip an AVIF, also animated; its Exif and XMP are items of `meta`."""
    _strip(file, is_image=True)


def _strip(file: BinaryIO, *, is_image: bool) -> None:
    source = Source(file, parts=_PARTS)
    blank = Overwrites(source)
    boxes, end = _top(source, wanted=b"meta" if is_image else b"moov")
    data = [box for box in boxes if box.kind == b"mdat"]
    movie = Movie(Coverage(source), Units(source, blank))
    described = _described(source, blank, boxes, data, movie, is_image=is_image)
    for box in boxes:
        if box.kind == b"moof":
            isobmff_movie.blank_fragment(source, blank, box, movie)
        elif box.kind in {b"sidx", b"mfra"}:
            isobmff_movie.blank_index(source, blank, box, movie)
        elif box.kind == b"wide":
            blank.fill(box.body, box.end)
        elif box.kind not in _KEPT and box not in described:
            discard(blank, box)
    for start, stop in movie.coverage.rest(data):
        blank.fill(start, stop)
    blank.apply(file)
    if end < source.size:
        file.truncate(end)


def _described(
    source: Source, blank: Overwrites, boxes: list[Box], data: list[Box], movie: Movie, *, is_image: bool
) -> list[Box]:
    """Handle the first `meta` of a picture and the first `moov`, all that decoders read; return them."""
    found = {box.kind: box for box in reversed(boxes) if box.kind == b"moov" or (box.kind == b"meta" and is_image)}
    if b"meta" in found:
        isobmff_items.blank_private(source, blank, found[b"meta"], data, movie.coverage)
    if b"moov" in found:
        isobmff_movie.blank_private(source, blank, found[b"moov"], movie)
    return list(found.values())


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
