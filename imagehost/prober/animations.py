"""How many frames an animated image has and how long one round of them takes, without decoding any of them.

Only the lengths and the delays of the parts are read; what is inside them is for the decoder. Where a file is cut off,
the frames that have begun count.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

import av

from imagehost import media
from imagehost.media import MediaType

LONGEST_MS = 2**31 - 1
"""Nearly 25 days. What a header claims beyond is no duration."""


def measure(file: BinaryIO, type_: MediaType, frames: int) -> tuple[int, int | None]:
    """Frames (those the decoder counted, where it counts itself) and milliseconds; None for a still."""
    file.seek(0)
    if type_ is media.AVIF:
        return frames, _sequence_ms(file) if frames > 1 else None
    delays = _COUNTED[type_](file)
    count, total = 0, 0.0
    for delay in delays:
        count, total = count + 1, total + delay
    return max(count, 1), believable(total) if count > 1 else None


def believable(milliseconds: float) -> int | None:
    return round(milliseconds) if 0 <= milliseconds <= LONGEST_MS else None


def _sequence_ms(file: BinaryIO) -> int | None:
    with av.open(file, mode="r", format="mov") as container:
        return None if container.duration is None else believable(container.duration / 1000)


def _png_delays(file: BinaryIO) -> Iterator[float]:
    """Of each `fcTL` (PNG, third edition §11.3.6.2)."""
    file.seek(8)
    while len(head := file.read(8)) == 8:
        length, kind = struct.unpack(">I4s", head)
        if kind == b"IEND":
            return
        if kind == b"fcTL":
            numerator, denominator = struct.unpack_from(">HH", file.read(length).ljust(26, b"\0"), 20)
            yield 1000 * numerator / (denominator or 100)
            length = 0
        file.seek(length + 4, 1)


def _webp_delays(file: BinaryIO) -> Iterator[float]:
    """Of each `ANMF` (RFC 9649 §2.7.1.1)."""
    file.seek(12)
    while len(head := file.read(8)) == 8:
        kind, length = struct.unpack("<4sI", head)
        rest = length + length % 2
        if kind == b"ANMF":
            frame = file.read(16).ljust(16, b"\0")
            yield int.from_bytes(frame[12:15], "little")
            rest -= 16
        file.seek(max(rest, 0), 1)


def _gif_delays(file: BinaryIO) -> Iterator[float]:
    """Of each picture (GIF89a §20, §23); a picture without a Graphic Control Extension has none."""
    file.seek(10)
    _skip_colours(file, file.read(3)[0])
    delay = 0.0
    while (introducer := file.read(1)) in (b"!", b","):
        if introducer == b",":
            yield delay
            delay = 0.0
            _skip_colours(file, file.read(9).ljust(9, b"\0")[8])
            file.seek(1, 1)
        elif file.read(1) == b"\xf9":
            delay = 10.0 * struct.unpack_from("<H", file.read(5).ljust(5, b"\0"), 2)[0]
        _skip_blocks(file)


def _skip_colours(file: BinaryIO, flags: int) -> None:
    if flags & 0x80:
        file.seek(3 << (flags & 7) + 1, 1)


def _skip_blocks(file: BinaryIO) -> None:
    while (length := file.read(1)) not in (b"\0", b""):
        file.seek(length[0], 1)


_COUNTED = {media.PNG: _png_delays, media.WEBP: _webp_delays, media.GIF: _gif_delays}
