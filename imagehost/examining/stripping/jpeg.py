"""JPEG (ITU-T T.81): removes segments that describe the picture, keeps the ones that decode it.

Of the pictures behind the first only the gain map of an HDR photo stays, with marks that are written again.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from imagehost import media
from imagehost.examining.stripping import exif, gain_maps, icc, tails
from imagehost.examining.stripping.rewriting import Malformed, Plan, Source, TooManyParts

_SOI, _EOI, _SOS = 0xD8, 0xD9, 0xDA
_APP0, _APP1, _APP2, _APP14, _COM = 0xE0, 0xE1, 0xE2, 0xEE, 0xFE
_STANDALONE = {0x01, *range(0xD0, 0xD8)}  # TEM and restarts: without a length
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_DECODING = {*_FRAMES, 0xC4, 0xCC, 0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF}  # tables, scans, line count, restart interval
_DESCRIBING = {*range(0xE0, 0xF0), _COM}
_MARKER = re.compile(rb"\xff[^\x00\xff]")
MARKER_BEHIND_SCAN = re.compile(rb"\xff[\xc0-\xc7\xc9-\xcf\xd8-\xef\xfe]")  # all other bytes of a scan are data
_MOST_SCANS = 200  # each costs as much as a whole picture, even where it is empty; encoders write ten
_SHORTEST_ICC = 14  # bytes: its name, number and count
_JFIF, _EXIF, _ICC, _ADOBE = b"JFIF\x00", b"Exif\x00\x00", b"ICC_PROFILE\x00", b"Adobe"


def strip(file: BinaryIO) -> None:
    source = Source(file)
    if source.exactly(0, 2) != bytes([0xFF, _SOI]):
        raise Malformed("does not start as a JPEG")
    walk = _Walk(source)
    walk.whole()
    gain_map = _gain_map(source)
    if gain_map and walk.end and walk.end <= gain_map.start:
        walk = _Walk(source, gain_map=gain_map)
        walk.whole()
    walk.joined().apply(file)


def _descriptions(source: Source, start: int, marker: int) -> Iterator[tuple[int, bytes]]:
    """Yield (start, body) of the segments of `marker` before the first scan of the picture at `start`."""
    position = start + 2
    while (found := source.search(_MARKER, position)) is not None:
        source.count_part()
        kind, position = source.read(found + 1, 1)[0], found + 2
        if kind in {_SOS, _EOI}:
            return
        if kind not in _STANDALONE:
            length = max(int.from_bytes(source.read(position, 2), "big"), 2)
            if kind == marker:
                yield found, source.read(position + 2, length - 2)
            position += length


def _gain_map(source: Source) -> "_GainMap | None":
    """Return the walk of the gain map to which an index in the first picture's header leads, if it is sound."""
    for start, body in _descriptions(source, 0, _APP2):
        for offset in gain_maps.offsets(body) if body.startswith(gain_maps.INDEX) else ():
            walk = _GainMap(source, start + 8 + offset)
            try:
                walk.whole()
            except Malformed:
                continue
            return walk
    return None


def _profile(source: Source, start: int) -> dict[int, bytes]:
    """Return the segments of the color profile of a picture, cleaned, by position; {} if one is missing."""
    found: dict[int, tuple[int, bytes]] = {}
    counts = set()
    for position, body in _descriptions(source, start, _APP2):
        if body.startswith(_ICC) and len(body) >= _SHORTEST_ICC:
            found[body[12]] = (position, body) if body[12] not in found else (position, b"")
            counts.add(body[13])
    if counts != {len(found)} or sorted(found) != list(range(1, len(found) + 1)):
        return {}
    profile = icc.cleaned(b"".join(found[number][1][_SHORTEST_ICC:] for number in sorted(found)))
    if profile is None:
        return {}
    segments: dict[int, bytes] = {}
    at = 0
    for _, (position, body) in sorted(found.items()):
        length = len(body) - _SHORTEST_ICC
        segments[position] = body[:_SHORTEST_ICC] + profile[at : at + length]
        at += length
    return segments


class _Walk:
    def __init__(self, source: Source, start: int = 0, *, gain_map: "_GainMap | None" = None) -> None:
        self.source = source
        self.start = start
        self.gain_map = gain_map
        self.profile = _profile(source, start)
        self.plan = Plan(source)
        self.plan.keep(start, start + 2)
        self.before_index: Plan | None = None
        self.index = (0, 0)
        self.end: int | None = None  # behind the mark of the end
        self.framed = self.oriented = False
        self.scans = 0

    def joined(self) -> Plan:
        """Return the plan of the picture; of an HDR photo with its index and its gain map."""
        if self.gain_map is None or self.before_index is None:
            return self.plan
        head = self.before_index.length
        length = head + 4 + gain_maps.INDEX_LENGTH + self.plan.length
        plan = Plan(self.source)
        plan.extend(self.before_index)
        index = gain_maps.index(length, self.gain_map.plan.length, length - head - 8)
        plan.replace(*self.index, _segment(_APP2, index))
        plan.extend(self.plan)
        plan.extend(self.gain_map.plan)
        return plan

    def whole(self) -> None:
        """Walk all segments. Bytes between segments, which decoders skip, are removed."""
        position: int | None = self.start + 2
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
            self.end = start + 2
            tails.check(self.source, self.end)
            return None
        if marker in _STANDALONE:
            return start + 2
        if self.scans and marker == _SOI:  # another picture, without an end of this one
            self._end_here(start)
            return None
        if marker not in _DECODING and marker not in _DESCRIBING:
            raise Malformed(f"marker {marker:#x} at byte {start}")
        length = int.from_bytes(self.source.read(start + 2, 2), "big")
        end = start + 2 + length
        if self.scans and max(start + 4, end) > self.source.size:  # a damaged scan
            self._end_here(start)
            return None
        if length < 2 and marker in _DESCRIBING:  # decoders skip only the length
            return start + 4
        if length < 2 or end > self.source.size:
            raise Malformed(f"a segment of {length} bytes at byte {start}")
        if marker in _DESCRIBING:
            self._description(marker, start, end)
            return end
        self.plan.keep(start, end)
        if marker in _FRAMES:
            self._frame(start)
        return self._scan(end) if marker == _SOS else end

    def _end_here(self, start: int) -> None:
        """End the picture before `start`, where decoders stop."""
        self.plan.replace(start, start + 2, bytes([0xFF, _EOI]))
        tails.check(self.source, start)

    def _frame(self, start: int) -> None:
        self.framed = True
        if self.source.number(start + 5, 2) * self.source.number(start + 7, 2) > media.JPEG.max_pixels:
            raise Malformed(f"a picture of more than {media.JPEG.max_pixels} pixels")

    def _scan(self, start: int) -> int:
        if not self.framed:
            raise Malformed("a scan before its frame")
        self.scans += 1
        if self.scans > _MOST_SCANS:
            raise TooManyParts(f"has more than {_MOST_SCANS} scans")
        found = self.source.search(MARKER_BEHIND_SCAN, start)
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
        elif start in self.profile:
            self.plan.replace(start, end, _segment(marker, self.profile[start]))
        elif marker == _APP1 and body.startswith(_EXIF):
            self._exif(start, end, body.removeprefix(_EXIF))
        elif self.gain_map and marker in {_APP1, _APP2}:
            self._mark(self.gain_map, start, end, body)

    def _exif(self, start: int, end: int, tiff: bytes) -> None:
        """Keep the orientation of the first Exif segment that has one, and what Apple's gain map needs."""
        turned, room = exif.orientation(tiff), len(tiff)
        headroom = exif.headroom(tiff) if self.gain_map else None
        if self.oriented or not (turned or headroom):
            return
        self.oriented = True
        content = exif.of_headroom(turned or 1, headroom) if headroom else b""
        if turned and not 0 < len(content) <= room:
            content = exif.of_orientation(turned, room=room)
        self._replace(start, end, _APP1, _EXIF + content)

    def _mark(self, gain_map: "_GainMap", start: int, end: int, body: bytes) -> None:
        if body.startswith(gain_maps.INDEX) and self.before_index is None and gain_maps.offsets(body):
            self.before_index, self.plan, self.index = self.plan, Plan(self.source), (start, end)
        elif body.startswith(gain_maps.XMP):
            self._replace(start, end, _APP1, gain_maps.of_primary(body, length=gain_map.plan.length))
        elif body.startswith(gain_maps.ISO):
            self._replace(start, end, _APP2, gain_maps.iso_version(body))

    def _replace(self, start: int, end: int, marker: int, body: bytes | None) -> bool:
        """Replace a segment where `body` fits, else remove it; whether it was replaced."""
        if body is None or len(body) > end - start - 4:
            return False
        self.plan.replace(start, end, _segment(marker, body))
        return True


class _GainMap(_Walk):
    """The walk of a second picture that has the marks of a gain map and is whole."""

    is_marked = False

    def whole(self) -> None:
        if self.source.read(self.start, 2) != bytes([0xFF, _SOI]):
            raise Malformed(f"no picture at byte {self.start}")
        super().whole()
        if not self.end:
            raise Malformed("a gain map that is cut off")

    def _scan(self, start: int) -> int:
        if not self.is_marked:
            raise Malformed("a second picture that is no gain map")
        return super()._scan(start)

    def _exif(self, start: int, end: int, tiff: bytes) -> None:
        """Keep none: the gain map lies on the picture as it is stored."""

    def _description(self, marker: int, start: int, end: int) -> None:
        body = self.source.exactly(start + 4, end - start - 4)
        if marker == _APP1 and body.startswith(gain_maps.XMP):
            self.is_marked |= self._replace(start, end, marker, gain_maps.of_map(body))
        elif marker == _APP2 and body.startswith(gain_maps.ISO):
            self.is_marked |= self._replace(start, end, marker, gain_maps.iso_metadata(body))
        else:
            super()._description(marker, start, end)


def _segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
