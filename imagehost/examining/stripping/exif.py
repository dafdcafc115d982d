"""Exif (TIFF 6.0): the tag Orientation, which changes how a picture is shown, and the headroom of Apple's gain map."""

import math
import struct
from collections.abc import Iterator

READ_AT_MOST = 1 << 16  # bytes of an Exif block; JPEG cannot hold more
_ORIENTATION, _EXIF, _NOTE, _HEADROOM, _GAIN = 0x0112, 0x8769, 0x927C, 33, 48  # tags
_SHORT, _LONG, _UNDEFINED, _SIGNED_RATIONAL = 3, 4, 7, 10
_ORIENTED = struct.Struct("<2sHIHHHIHHI")
_APPLE = b"Apple iOS\x00\x00\x01MM"


def byte_order(tiff: bytes) -> str | None:
    """Return the byte order as `struct` writes it; None for anything but a TIFF."""
    return {b"II*\x00": "<", b"MM\x00*": ">"}.get(tiff[:4])


def directory(tiff: bytes, order: str, start: int) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield (tag, type, count, value of four bytes) of the directory at `start`, as far as it is there."""
    if start + 2 > len(tiff):
        return
    (count,) = struct.unpack_from(order + "H", tiff, start)
    for position in range(start + 2, min(start + 2 + 12 * count, len(tiff) - 11), 12):
        yield struct.unpack_from(order + "HHI4s", tiff, position)


def written_directory(entries: list[tuple[int, int, int, bytes]]) -> bytes:
    """Return a big-endian directory of entries as `directory` yields them, and no next one."""
    return struct.pack(">H", len(entries)) + b"".join(struct.pack(">HHI4s", *one) for one in entries) + bytes(4)


def orientation(tiff: bytes) -> int | None:
    """Return 2 to 8 for a turned or mirrored picture; None for upright, absent and broken."""
    order = byte_order(tiff)
    if order is None or len(tiff) < 8:
        return None
    (start,) = struct.unpack_from(order + "I", tiff, 4)
    for tag, kind, values, content in directory(tiff, order, start) if start >= 8 else ():
        if tag == _ORIENTATION:
            value: int = struct.unpack_from(order + "H", content)[0]
            return value if kind == _SHORT and values == 1 and 2 <= value <= 8 else None
    return None


def of_orientation(turned: int, *, room: int) -> bytes:
    """Return a TIFF of that one tag in at most `room` bytes (22 or more; 26 with the pointer to the next directory)."""
    return _ORIENTED.pack(b"II", 42, 8, 1, _ORIENTATION, _SHORT, 1, turned, 0, 0)[:room]


def headroom(tiff: bytes) -> tuple[int, int, int, int] | None:
    """Return the two fractions in Apple's maker note by which the gain map is scaled; None where there are none."""
    if byte_order(tiff) != ">" or len(tiff) < 8:
        return None
    exif = _value(tiff, int.from_bytes(tiff[4:8], "big"), _EXIF)
    note = None if exif is None else _value(tiff, exif, _NOTE)
    if note is None or not tiff.startswith(_APPLE, note):
        return None
    body = tiff[note:]
    fractions: list[int] = []
    for place in (_value(body, len(_APPLE), tag) for tag in (_HEADROOM, _GAIN)):
        if place is None or place + 8 > len(body):
            return None
        fractions += struct.unpack_from(">ii", body, place)
    first, first_part, second, second_part = fractions
    if not (first_part and second_part and math.hypot(first / first_part, second / second_part) < 100):
        return None
    return first, first_part, second, second_part


def _value(tiff: bytes, start: int, tag: int) -> int | None:
    """Return the value of a tag in the big-endian directory at `start`: a position if it has over four bytes."""
    values = (value for found, _, _, value in directory(tiff, ">", start) if found == tag)
    return next((int.from_bytes(value, "big") for value in values), None)


def of_headroom(turned: int, fractions: tuple[int, int, int, int]) -> bytes:
    """Return a TIFF of the orientation and of a maker note with the fractions of `headroom`, and nothing else."""
    places = [(tag, _SIGNED_RATIONAL, 1, struct.pack(">I", at)) for tag, at in ((_HEADROOM, 44), (_GAIN, 52))]
    note = _APPLE + written_directory(places) + struct.pack(">4i", *fractions)
    first = [(_ORIENTATION, _SHORT, 1, struct.pack(">HH", turned, 0)), (_EXIF, _LONG, 1, struct.pack(">I", 38))]
    second = [(_NOTE, _UNDEFINED, len(note), struct.pack(">I", 56))]
    return b"MM\x00*" + struct.pack(">I", 8) + written_directory(first) + written_directory(second) + note
