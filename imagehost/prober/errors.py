"""Why a file is refused inside the child, and what the decoders raise where a file is broken."""

import struct
import zlib

import av
from PIL import Image

from imagehost.media import MediaType

LONGEST_MS = 2**31 - 1
"""Nearly 25 days. What a header claims beyond is no duration."""


class Refused(Exception):
    """The file is not what it says, or broken; the text says why, for the log."""


BROKEN = (
    # Documented for hostile headers, or met with generated ones. OSError: the file is read through a descriptor that
    # was opened before, so what goes wrong while it is decoded is in the file.
    OSError,
    ValueError,
    LookupError,
    SyntaxError,
    EOFError,
    MemoryError,
    ArithmeticError,
    AttributeError,
    TypeError,
    RuntimeError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
    av.FFmpegError,
)


def check_size(width: int, height: int, type_: MediaType) -> tuple[int, int]:
    """Pixels of a picture as the file claims them. Raises Refused."""
    if width < 1 or height < 1:
        raise Refused(f"a picture of {width}x{height}")
    if width * height > type_.max_pixels:
        raise Refused(f"a picture of {width}x{height} is more than {type_.max_pixels} pixels")
    return width, height


def believable(milliseconds: float) -> int | None:
    """A duration as the file claims it, rounded; None where it is none."""
    return round(milliseconds) if 0 <= milliseconds <= LONGEST_MS else None
