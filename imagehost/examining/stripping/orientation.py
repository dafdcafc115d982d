"""The Exif tag Orientation (TIFF 6.0 tag 274), which changes how a picture is shown."""

import struct

READ_AT_MOST = 1 << 16  # bytes of an Exif block; JPEG cannot hold more
SHORTEST = 22  # bytes of a TIFF with the tag: header, count, one entry
_TAG, _SHORT = 0x0112, 3
_TIFF = struct.Struct("<2sHIHHHIHHI")


def of_tiff(tiff: bytes) -> int | None:
    """Return 2 to 8 for a turned or mirrored picture; None for upright, absent and broken."""
    order = {b"II*\x00": "<", b"MM\x00*": ">"}.get(tiff[:4])
    if order is None or len(tiff) < SHORTEST:
        return None
    (start,) = struct.unpack_from(order + "I", tiff, 4)
    if not 8 <= start <= len(tiff) - 2:
        return None
    (count,) = struct.unpack_from(order + "H", tiff, start)
    for position in range(start + 2, min(start + 2 + 12 * count, len(tiff) - 11), 12):
        tag, kind, values, value = struct.unpack_from(order + "HHIH", tiff, position)
        if tag == _TAG:
            return value if kind == _SHORT and values == 1 and 2 <= value <= 8 else None
    return None


def tiff(orientation: int, *, room: int) -> bytes:
    """Return a TIFF of that one tag in at most `room` bytes (22 or more; 26 with the pointer to the next directory)."""
    return _TIFF.pack(b"II", 42, 8, 1, _TAG, _SHORT, 1, orientation, 0, 0)[:room]
