"""JPEG (ITU-T T.81): removes segments that describe the picture, keeps those that decode it."""

import re
from typing import BinaryIO

from imagehost.stripping import orientation, tails
from imagehost.stripping.rewriting import Malformed, Plan, Source, TooManyParts

_SOI, _EOI, _SOS = 0xD8, 0xD9, 0xDA
_APP0, _APP1, _APP2, _APP14, _COM = 0xE0, 0xE1, 0xE2, 0xEE, 0xFE
_STANDALONE = {0x01, *range(0xD0, 0xD8)}  # TEM and restarts: without a length
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_DECODING = {*_FRAMES, 0xC4, 0xCC, 0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF}  # tables, scans, line count, restart interval
_DESCRIBING = {*range(0xE0, 0xF0), _COM}
_MARKER = re.compile(rb"\xff[^\x00\xff]")
_MARKER_BEHIND_SCAN = re.compile(rb"\xff[\xc0-\xc7\xc9-\xcf\xd8-\xef\xfe]")  # all other bytes of a scan are data
_MOST_SCANS = 200  # each costs as much as a whole picture, even where it is empty; encoders write ten
_SHORTEST_ICC = 14  # bytes: its name, number and count
_JFIF, _EXIF, _ICC, _ADOBE = b"JFIF\x00", b"Exif\x00\x00", b"ICC_PROFILE\x00", b"Adobe"


def strip(file: BinaryIO) -> None:
    source = Source(file)
    if source.exactly(0, 2) != bytes([0xFF, _SOI]):
        raise Malformed("does not start as a JPEG")
    walk = _Walk(source)
    walk.whole()
    walk.plan.apply(file)


class _Walk:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.plan = Plan(source)
        self.plan.keep(0, 2)
        self.framed = self.oriented = False
        self.scans = 0

    def whole(self) -> None:
        """Walk all segments. Bytes between segments, which decoders skip, are removed."""
        position: int | None = 2
        while position is not None and (start := self.source.search(_MARKER, position)) is not None:
            self.source.count_part()
            position = self._part(start)
        if not self.scans:
            raise Malformed("has no scan")

    def _part(self, start: int) -> int | None:
        """Handle a segment; return where to look for the next marker, None at the end or in a truncated scan."""
        marker = self.source.read(start + 1, 1)[0]
        if marker == _EOI:
            self.plan.keep(start, start + 2)
            tails.check(self.source, start + 2)
            return None
        if marker in _STANDALONE:
            return start + 2
        if self.scans and marker == _SOI:  # another picture, without an end of this one
            self.plan.replace(start, start + 2, bytes([0xFF, _EOI]))
            tails.check(self.source, start)
            return None
        if marker not in _DECODING and marker not in _DESCRIBING:
            raise Malformed(f"marker {marker:#x} at byte {start}")
        length = int.from_bytes(self.source.read(start + 2, 2), "big")
        end = start + 2 + length
        if self.scans and max(start + 4, end) > self.source.size:
            return None
        if length < 2 and marker in _DESCRIBING:  # decoders skip only the length
            return start + 4
        if length < 2 or end > self.source.size:
            raise Malformed(f"a segment of {length} bytes at byte {start}")
        if marker in _DESCRIBING:
            self._description(marker, start, end)
            return end
        self.plan.keep(start, end)
        self.framed |= marker in _FRAMES
        return self._scan(end) if marker == _SOS else end

    def _scan(self, start: int) -> int:
        if not self.framed:
            raise Malformed("a scan before its frame")
        self.scans += 1
        if self.scans > _MOST_SCANS:
            raise TooManyParts(f"has more than {_MOST_SCANS} scans")
        found = self.source.search(_MARKER_BEHIND_SCAN, start)
        end = self.source.size if found is None else found
        self.plan.keep(start, end)
        return end

    def _description(self, marker: int, start: int, end: int) -> None:
        """Rewrite the fields that decoders need, which removes thumbnails and scripts inside."""
        body = self.source.exactly(start + 4, end - start - 4)
        if marker == _APP0 and body.startswith(_JFIF) and len(body) >= 14:
            self.plan.replace(start, end, _segment(marker, body[:12] + bytes(2)))
        elif marker == _APP14 and body.startswith(_ADOBE) and len(body) >= 12:
            self.plan.replace(start, end, _segment(marker, body[:12]))
        elif marker == _APP2 and body.startswith(_ICC) and len(body) >= _SHORTEST_ICC:
            self.plan.keep(start, end)
        elif marker == _APP1 and body.startswith(_EXIF):
            self._orientation(start, end, body.removeprefix(_EXIF))

    def _orientation(self, start: int, end: int, tiff: bytes) -> None:
        """Keep the orientation of the first Exif segment that has one."""
        turned = orientation.of_tiff(tiff)
        if turned and not self.oriented:
            self.oriented = True
            content = _segment(_APP1, _EXIF + orientation.tiff(turned, room=len(tiff)))
            self.plan.replace(start, end, content)


def _segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
