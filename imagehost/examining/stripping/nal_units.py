"""User data inside of H.264 (ITU-T H.264, 7.3.2.3 and D.1.7) and HEVC (ITU-T H.265, 7.3.2.4): SEI of type 5 is blanked.

Encoders write their settings there, and cameras positions and other telemetry. Sizes and offsets stay. Registered user
data stays, too: it is what players show, such as closed captions and the marks of HDR.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from imagehost.examining.stripping.boxes import Box, Numbers, children
from imagehost.examining.stripping.isobmff_samples import Run
from imagehost.examining.stripping.rewriting import LARGEST_READ, Malformed, Overwrites, Source, TooManyParts

_MOST_UNITS = 4_000_000  # of a film, with its samples
_AVC, _HEVC = b"avcC", b"hvcC"  # boxes of settings
_ENTRIES = {b"avc1", b"avc2", b"avc3", b"avc4", b"dva1", b"dvav", b"hvc1", b"hev1", b"dvh1", b"dvhe"}
_NAMED = {b"av01", b"vp08", b"vp09", b"mp4v"}  # the name of the encoder decides nothing in these either
_VENDOR, _ENCODER = (12, 16), (42, 74)  # bytes of a sample entry of pictures
_VISUAL = 78  # bytes of a sample entry of pictures before its boxes
_AVC_SEI, _HEVC_SEI = {6}, {39, 40}
_UNREGISTERED, _NAME = 5, 16  # a type of SEI; bytes of the UUID before its text
_ESCAPE = re.compile(rb"\x00\x00\x03")  # the third byte is not part of the content
_BLANK = ord(" ")  # zeros would have to be escaped
_BUILD = re.compile(rb"\xdcE\xe9\xbd\xe6\xd9H\xb7\x96,\xd8 \xd9#\xee\xefx264 - core \d{1,4}(?!\d)")
"""Decoders look for the version of x264, as early ones wrote pictures that are read in another way."""


class Layout(NamedTuple):
    """How samples are made of units. `width`: bytes of the length before each."""

    width: int
    is_hevc: bool


class Units:
    """The units of a film: `entries` and `samples` blank what is private in them."""

    def __init__(self, source: Source, blank: Overwrites) -> None:
        self._source = source
        self._blank = blank
        self._left = _MOST_UNITS

    def entries(self, stsd: Box) -> dict[int, Layout]:
        """Blank vendors, encoders and settings of sample entries; return the layouts by the number of the entry."""
        layouts = {}
        for number, entry in enumerate(children(self._source, stsd.body + 8, stsd.end), 1):
            if entry.kind in _ENTRIES | _NAMED:
                self._blank.fill(entry.body + _VENDOR[0], entry.body + _VENDOR[1])
                self._blank.fill(entry.body + _ENCODER[0], entry.body + _ENCODER[1])
            if entry.kind in _ENTRIES:
                for box in children(self._source, entry.body + _VISUAL, entry.end, self._blank):
                    if box.kind in {_AVC, _HEVC}:
                        layouts[number] = self._settings(box)
        return layouts

    def _settings(self, box: Box) -> Layout:
        is_hevc = box.kind == _HEVC
        layout = Layout((self._source.number(box.body + (21 if is_hevc else 4), 1) & 3) + 1, is_hevc)
        numbers = Numbers(self._source, box.body + (22 if is_hevc else 5), box.end)
        for start, end in _of_settings(numbers, is_hevc=is_hevc):
            self._unit(start, end, layout)
        return layout

    def samples(self, run: Run, layout: Layout) -> None:
        position = run.start
        for size in run.sizes if 0 <= run.start < run.end else ():
            self._count()
            at, end = position, min(position + size, self._source.size)
            while at + layout.width < end:
                self._count()
                start = at + layout.width
                at = start + self._source.number(at, layout.width)
                self._unit(start, min(at, end), layout)
            position += size
            if position >= self._source.size:
                return

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyParts("has more samples and units than any real film")

    def _unit(self, start: int, end: int, layout: Layout) -> None:
        if start >= end:
            return
        first = self._source.number(start, 1)
        if layout.is_hevc and first >> 1 & 63 in _HEVC_SEI:
            self._messages(start + 2, end)
        elif not layout.is_hevc and first & 31 in _AVC_SEI:
            self._messages(start + 1, end)

    def _messages(self, start: int, end: int) -> None:
        if end - start > LARGEST_READ:
            raise Malformed(f"a message of {end - start} bytes at byte {start}")
        escaped = self._source.read(start, max(end - start, 0))
        escapes = [found.end() - 1 for found in _ESCAPE.finditer(escaped)]
        content = _ESCAPE.sub(b"\x00\x00", escaped)
        places = [at - number for number, at in enumerate(escapes)]  # of the first byte behind each, in the content
        for kind, first, last in _payloads(content):
            if kind == _UNREGISTERED and first < last:
                kept = _BUILD.match(content, first, last)
                behind = kept.end() if kept else first
                begin, stop = (start + at + bisect_right(places, at) for at in (behind, last - 1))
                self._blank.fill(begin, stop + 1, _BLANK)
                for at in escapes[bisect_right(places, behind) : bisect_right(places, last + 1)]:
                    self._blank.put(start + at - 2, b"\x00\x00\x03")


def _payloads(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (type, start, end) of each message."""
    position = 0
    while position + 2 <= len(content):
        numbers = []
        for _ in range(2):
            number = 0
            while content[position : position + 1] == b"\xff":
                number, position = number + 255, position + 1
            numbers.append(number + int.from_bytes(content[position : position + 1], "big"))
            position += 1
        kind, length = numbers
        yield kind, min(position, len(content)), min(position + length, len(content))
        position += length


def _of_settings(numbers: Numbers, *, is_hevc: bool) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each unit, which comes after its length of two bytes."""
    for mask in range(numbers.take(1)) if is_hevc else (31, 255):
        numbers.take(1 if is_hevc else 0)
        for _ in range(numbers.take(2) if is_hevc else numbers.take(1) & mask):
            length = numbers.take(2)
            start = numbers.position
            numbers.skip(length)
            yield start, numbers.position
