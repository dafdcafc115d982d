"""PNG (W3C PNG third edition): chunks that are not listed go, and what lies behind IEND."""

import zlib
from typing import BinaryIO

from imagehost.stripping import orientation
from imagehost.stripping.compaction import Plan
from imagehost.stripping.errors import Malformed
from imagehost.stripping.reading import Source

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LONGEST = 0x7FFFFFFF
_IMAGE = {b"IDAT", b"fdAT"}  # of these a cut-off last one stays
# Chunk types that stay, with the most bytes that each can hold; a longer one carries something else.
_KEPT = {
    b"IHDR": 13, b"PLTE": 768, b"IDAT": _LONGEST, b"IEND": 0,
    b"acTL": 8, b"fcTL": 26, b"fdAT": _LONGEST,
    b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"iCCP": _LONGEST, b"cICP": 4,
    b"mDCV": 24, b"mDCv": 24, b"cLLI": 8, b"cLLi": 8,
    b"tRNS": 256, b"bKGD": 6, b"pHYs": 9, b"hIST": 512, b"sBIT": 4, b"sPLT": 1 << 16,
}  # fmt: skip


def strip(file: BinaryIO) -> None:
    source = Source(file)
    if source.exactly(0, 16) != _SIGNATURE + b"\x00\x00\x00\x0dIHDR":
        raise Malformed("does not start as a PNG")
    plan = Plan(source)
    plan.keep(0, 8)
    _walk(source, plan)
    plan.apply(file)


def _walk(source: Source, plan: Plan) -> None:
    position = 8
    seen: set[bytes] = set()
    while position + 8 <= source.size:
        source.count_part()
        length, kind = source.number(position, 4), source.read(position + 4, 4)
        end = position + 12 + length
        _require_sound(kind, length, seen)
        if end > source.size and (kind not in _IMAGE or b"IHDR" not in seen):
            break
        seen.add(kind)
        if length <= _KEPT.get(kind, -1):
            plan.keep(position, min(end, source.size))
        elif kind == b"eXIf":
            _keep_orientation(source, plan, position, end)
        position = end
        if kind == b"IEND":
            source.require_padding(end)
            break
    if b"IDAT" not in seen:
        raise Malformed("has no image data")


def _require_sound(kind: bytes, length: int, seen: set[bytes]) -> None:
    if not (kind.isalpha() and kind.isascii()) or length > _LONGEST:
        raise Malformed("a broken chunk header")
    critical = not kind[0] & 0x20
    if critical and length > _KEPT.get(kind, -1):
        raise Malformed("a critical chunk that no decoder knows, or that is too long")
    if kind == b"IHDR" and kind in seen:
        raise Malformed("a second header")


def _keep_orientation(source: Source, plan: Plan, start: int, end: int) -> None:
    length = end - start - 12
    if turned := orientation.of_tiff(source.read(start + 8, min(length, orientation.READ_AT_MOST))):
        body = b"eXIf" + orientation.tiff(turned, room=length)
        plan.replace(start, end, (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big"))
