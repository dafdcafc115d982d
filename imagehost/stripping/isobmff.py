"""MP4, MOV and AVIF: private boxes become empty space in place, so no offset in the file changes."""

from typing import BinaryIO

from imagehost.stripping import isobmff_items, isobmff_movie
from imagehost.stripping.boxes import Box, box_at, discard
from imagehost.stripping.errors import ForeignBytes, Malformed
from imagehost.stripping.overwriting import Overwrites
from imagehost.stripping.reading import Source

_LONGEST_BRANDS = 1024  # bytes of ftyp and styp
_PARTS = 500_000  # live recordings have five boxes for each fragment
_KEPT = {b"ftyp", b"styp", b"moov", b"moof", b"mdat", b"mfra", b"sidx", b"ssix", b"pdin", b"wide"}
# Empty space, other metadata, wall clocks and previews, and what cameras add at the top: Samsung, HTC, Leica, dashcams.
_DISCARDED = {
    b"free", b"skip", b"uuid", b"udta", b"meta", b"meco", b"emsg", b"prft", b"pnot", b"PICT", b"pict", b"junk", b"thum",
    b"sefd", b"_htc", b"frea", b"mcvr", b"mpvd", b"GPS ", b"gps0", b"gsen",
}  # fmt: skip
_KNOWN = _KEPT | _DISCARDED


def strip_video(file: BinaryIO) -> None:
    """MP4 and MOV. A last mdat may be cut off, everything else must be whole."""
    _strip(file, is_image=False)


def strip_image(file: BinaryIO) -> None:
    """AVIF, also animated; its Exif and XMP are items of `meta`."""
    _strip(file, is_image=True)


def _strip(file: BinaryIO, *, is_image: bool) -> None:
    source = Source(file, parts=_PARTS)
    blank = Overwrites(source)
    boxes, end = _top(source)
    wanted = b"meta" if is_image else b"moov"
    if not any(box.kind == wanted for box in boxes):
        raise Malformed(f"has no {wanted.decode()}")
    data = [box for box in boxes if box.kind == b"mdat"]
    for box in boxes:
        if box.kind == b"meta" and is_image:
            isobmff_items.blank_private(source, blank, box, data)
        elif box.kind == b"moov":
            isobmff_movie.blank_private(source, blank, box, data)
        elif box.kind == b"moof":
            isobmff_movie.blank_fragment(source, blank, box)
        elif box.kind == b"wide":
            blank.fill(box.body, box.end)
        elif box.kind not in _KEPT:
            discard(blank, box)
    blank.apply(file)
    if end < source.size:
        file.truncate(end)


def _top(source: Source) -> tuple[list[Box], int]:
    """The boxes of the whole file, and where the last one ends: behind it is padding at most."""
    boxes: list[Box] = []
    start = 0
    while start < source.size:
        if source.read(start + 4, 4) not in _KNOWN:
            if boxes and source.after_padding(start) == source.size:
                return boxes, start
            raise ForeignBytes(f"a box of no known kind at byte {start}")
        box = box_at(source, start, limit=source.size)
        to_the_end = box.kind == b"mdat"
        if not to_the_end and (box.end > source.size or source.number(start, 4) == 0):
            raise Malformed(f"the box at byte {start} is longer than the file")
        if box.kind in {b"ftyp", b"styp"} and box.end - box.start > _LONGEST_BRANDS:
            raise ForeignBytes("a list of brands that is no list")
        boxes.append(box)
        start = box.end
    return boxes, source.size
