"""WebP (RFC 9649): removes unlisted chunks, also inside the frames of an animation."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from imagehost.examining.stripping import exif, icc, tails
from imagehost.examining.stripping.rewriting import Malformed, Plan, Source

_HEADER, _CHUNK, _FRAME = 12, 8, 16  # bytes: of the file, of a chunk, of ANMF's own fields
_IMAGES = {b"VP8 ", b"VP8L"}
# Chunk types that stay, and their length where it is fixed.
_KEPT_ONCE = {b"VP8X": 10, b"ANIM": 6, b"ALPH": None, b"VP8 ": None, b"VP8L": None}
_OF_FRAME = {b"ALPH", b"VP8 ", b"VP8L"}
_XMP_FLAG, _EXIF_FLAG, _ICC_FLAG = 0x04, 0x08, 0x20  # in the first byte of VP8X
_EXIF_PREFIX = b"Exif\x00\x00"


class _Chunk(NamedTuple):
    kind: bytes
    start: int
    body: int
    end: int  # of the body
    next: int  # with the byte that makes it even


def strip(file: BinaryIO) -> None:
    source = Source(file)
    head = source.exactly(0, _HEADER + _CHUNK)
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        raise Malformed("does not start as a WebP")
    declared = _CHUNK + int.from_bytes(head[4:8], "little")
    if declared < _HEADER + _CHUNK:
        raise Malformed("no room for an image")
    end = min(declared, source.size)
    body = _Walk(source, end).plan
    tails.check(source, end)
    plan = Plan(source)
    size = declared - _CHUNK - (end - _HEADER - body.length)
    plan.replace(0, _HEADER, b"RIFF" + size.to_bytes(4, "little") + b"WEBP")
    plan.extend(body)
    plan.apply(file)


class _Walk:
    """Plans the chunks between the file's header and `end`."""

    def __init__(self, source: Source, end: int) -> None:
        self.source = source
        self.plan = Plan(source)
        self.seen: set[bytes] = set()
        chunks = list(_chunks(source, _HEADER, end))
        # Decoders read the first Exif and the first profile, and only if VP8X comes first.
        first = {chunk.kind: chunk for chunk in reversed(chunks)} if chunks and chunks[0].kind == b"VP8X" else {}
        self.turned: int | None = None
        self.profile: bytes | None = None
        if found := first.get(b"EXIF"):
            tiff = source.read(found.body, min(found.end - found.body, exif.READ_AT_MOST))
            self.turned = exif.orientation(tiff.removeprefix(_EXIF_PREFIX))
        if found := first.get(b"ICCP"):
            self.profile = icc.cleaned(source.whole(found.body, found.end, most=icc.LARGEST))
        for chunk in chunks:
            self._chunk(chunk)
        if not self.seen & {*_IMAGES, b"ANMF"}:
            raise Malformed("has no image")

    def _chunk(self, chunk: _Chunk) -> None:
        once = chunk.kind not in self.seen
        self.seen.add(chunk.kind)
        if chunk.kind == b"VP8X" and once:
            if chunk.start != _HEADER or chunk.end - chunk.body != 10:
                raise Malformed("a VP8X that is not first, or not of 10 bytes")
            old = self.source.exactly(chunk.start, 18)
            flags = old[8] & ~(_XMP_FLAG | _EXIF_FLAG | _ICC_FLAG)
            flags |= (_EXIF_FLAG if self.turned else 0) | (_ICC_FLAG if self.profile is not None else 0)
            self.plan.replace(chunk.start, chunk.next, old[:8] + bytes([flags]) + old[9:])
        elif chunk.kind == b"ANMF":
            self._frame(chunk)
        elif chunk.kind == b"EXIF" and once and self.turned:
            room = (chunk.end - chunk.body) // 2 * 2  # an odd length needs another byte
            tiff = exif.of_orientation(self.turned, room=room)
            self.plan.replace(chunk.start, chunk.next, b"EXIF" + len(tiff).to_bytes(4, "little") + tiff)
        elif chunk.kind == b"ICCP" and once and self.profile is not None:
            self.plan.keep(chunk.start, chunk.body)
            self.plan.replace(chunk.body, chunk.end, self.profile)
            self.plan.keep(chunk.end, chunk.next)
        elif once and _KEPT_ONCE.get(chunk.kind, -1) in {None, chunk.end - chunk.body}:
            is_second_image = chunk.kind in _IMAGES and self.seen >= _IMAGES  # of the other kind
            self.plan.keep(chunk.start, chunk.start if is_second_image else chunk.next)

    def _frame(self, chunk: _Chunk) -> None:
        """Keep a frame of an animation: its fields, and its listed chunks."""
        if chunk.end - chunk.body < _FRAME:
            raise Malformed("a frame without its fields")
        inside = Plan(self.source)
        for part in _chunks(self.source, chunk.body + _FRAME, chunk.end):
            if part.kind in _OF_FRAME:
                inside.keep(part.start, part.next)
        missing = chunk.end - chunk.body - _FRAME - inside.length
        header = self.source.exactly(chunk.start, _CHUNK + _FRAME)
        size = int.from_bytes(header[4:8], "little") - missing
        self.plan.replace(chunk.start, chunk.body + _FRAME, header[:4] + size.to_bytes(4, "little") + header[_CHUNK:])
        self.plan.extend(inside)


def _chunks(source: Source, start: int, end: int) -> Iterator[_Chunk]:
    """Yield the chunks from `start` to `end`. The last may be truncated; an incomplete header is ignored."""
    while start + _CHUNK <= end:
        source.count_part()
        head = source.exactly(start, _CHUNK)
        stop = start + _CHUNK + int.from_bytes(head[4:], "little")
        if stop > end and end < source.size:
            raise Malformed(f"a chunk at byte {start} is longer than its parent")
        following = min(stop + (stop - start) % 2, end)
        yield _Chunk(head[:4], start, start + _CHUNK, min(stop, end), following)
        start = following
