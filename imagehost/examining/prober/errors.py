"""The refusal of a file in the child, and what decoders raise for broken files."""

import struct
import zlib

import av
from PIL import Image

from imagehost.media import MediaType

LONGEST_MS = 2**31 - 1
"""Nearly 25 days, the longest plausible duration."""


class Refused(Exception):
    """The file is broken or not of its claimed type; the text is for the log."""


BROKEN = (
    # Documented for hostile headers, or seen with generated ones. OSError: the file is open already, so errors while it
    # is decoded come from its content.
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
    """Return the size of a picture in pixels. Raises Refused for an empty or too large one."""
    if width < 1 or height < 1:
        raise Refused(f"a picture of {width}x{height}")
    if width * height > type_.max_pixels:
        raise Refused(f"a picture of {width}x{height} is more than {type_.max_pixels} pixels")
    return width, height


def believable(milliseconds: float) -> int | None:
    """Return a claimed duration, rounded; None where it is not plausible."""
    return round(milliseconds) if 0 <= milliseconds <= LONGEST_MS else None
