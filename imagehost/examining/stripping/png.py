"""PNG (W3C PNG third edition): removes unlisted chunks and the bytes after IEND."""

import re
import zlib
from collections.abc import Container
from typing import BinaryIO

from imagehost.examining.stripping import exif, icc, tails
from imagehost.examining.stripping.rewriting import Malformed, Plan, Source

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LONGEST = 0x7FFFFFFF
_LONGEST_PROFILE = 4 << 20  # bytes of its chunk
_PROFILE = re.compile(rb"iCCP([^\0]{1,79})\0\0", re.DOTALL)  # a name, and the only method of compression
_IMAGE = {b"IDAT", b"fdAT"}  # the last of these may be truncated
# Chunk types that stay, and their valid lengths.
_KEPT: dict[bytes, Container[int]] = {
    b"IHDR": (13,), b"PLTE": range(3, 769, 3), b"IDAT": range(_LONGEST + 1), b"IEND": (0,),
    b"acTL": (8,), b"fcTL": (26,), b"fdAT": range(_LONGEST + 1),
    b"gAMA": (4,), b"cHRM": (32,), b"sRGB": (1,), b"cICP": (4,),
    b"mDCV": (24,), b"mDCv": (24,), b"cLLI": (8,), b"cLLi": (8,),
    b"tRNS": range(1, 257), b"bKGD": (1, 2, 6), b"pHYs": (9,), b"hIST": range(2, 513, 2), b"sBIT": range(1, 5),
    b"sPLT": range((1 << 16) + 1),
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
    """Plan the chunks. After the first image data, unknown chunks are skipped, and an invalid one ends the file."""
    position = 8
    seen: set[bytes] = set()
    is_profiled = False
    while position + 8 <= source.size:
        source.count_part()
        length, kind = source.number(position, 4), source.read(position + 4, 4)
        end = position + 12 + length
        if length > _LONGEST or (end > source.size and kind not in _IMAGE):
            break
        if b"IDAT" not in seen and not _is_ancillary(kind) and (length not in _KEPT.get(kind, ()) or kind in seen):
            raise Malformed("an unknown or repeated critical chunk, or one of an invalid length")
        if _is_wanted(source, position, length, kind) and not (kind == b"IHDR" and kind in seen):
            plan.keep(position, min(end, source.size))
        elif kind == b"iCCP" and not is_profiled and b"IDAT" not in seen:
            is_profiled = _keep_profile(source, plan, position, end)
        elif kind == b"eXIf" and (
            turned := exif.orientation(source.read(position + 8, min(length, exif.READ_AT_MOST)))
        ):
            plan.replace(position, end, _chunk(b"eXIf" + exif.of_orientation(turned, room=length)))
        seen.add(kind)
        position = end
        if kind == b"IEND":
            break
    if b"IDAT" not in seen:
        raise Malformed("has no image data")
    tails.check(source, position)


def _is_ancillary(kind: bytes) -> bool:
    """Return whether decoders may skip the chunk (PNG, third edition, 5.4)."""
    return bool(kind[0] & 0x20)


def _is_wanted(source: Source, position: int, length: int, kind: bytes) -> bool:
    """Return whether the chunk stays. Damaged ancillary ones go: browsers ignore them, decoders fail."""
    if length not in _KEPT.get(kind, ()):
        return False
    if kind in _IMAGE or not _is_ancillary(kind):
        return True
    chunk = source.read(position + 4, length + 4)
    return zlib.crc32(chunk) == source.number(position + 8 + length, 4)


def _keep_profile(source: Source, plan: Plan, start: int, end: int) -> bool:
    """Keep a sound color profile without private tags; whether it is sound.

    Its name, which no decoder reads, becomes a general one.
    """
    chunk = source.whole(start + 4, end - 4, most=_LONGEST_PROFILE)
    found = _PROFILE.match(chunk)
    if not found or zlib.crc32(chunk) != source.number(end - 4, 4):
        return False
    packed = chunk[found.end() :]
    profile, rest = _unpacked(packed)
    head = b"iCCP" + b"icc"[: len(found[1])] + bytes(2)
    for only_colors in (False, True):
        clean = icc.cleaned(profile, only_colors=only_colors)
        if clean is None:
            return False
        packing = zlib.compressobj(9, memLevel=9)
        repacked = packed[: len(packed) - rest] if clean == profile else packing.compress(clean) + packing.flush()
        new = head + repacked
        if len(new) <= len(chunk):
            plan.replace(start, end, _chunk(new))
            return True
    raise Malformed("a color profile that would become longer without its private tags")


def _unpacked(packed: bytes) -> tuple[bytes, int]:
    """Return the profile, and how many bytes are behind it; empty where it is damaged."""
    unpacking = zlib.decompressobj()
    try:
        profile = unpacking.decompress(packed, icc.LARGEST + 1)
    except zlib.error:
        return b"", 0
    if len(profile) > icc.LARGEST:
        raise Malformed(f"a color profile of more than {icc.LARGEST} bytes")
    return (profile, len(unpacking.unused_data)) if unpacking.eof else (b"", 0)


def _chunk(kind_and_body: bytes) -> bytes:
    length, checksum = len(kind_and_body) - 4, zlib.crc32(kind_and_body)
    return length.to_bytes(4, "big") + kind_and_body + checksum.to_bytes(4, "big")
