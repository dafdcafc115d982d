"""Why a file is refused inside the child, and what the decoders raise where a file is broken."""

import struct
import zlib

import av
from PIL import Image

MAX_PIXELS = Image.MAX_IMAGE_PIXELS or 0
"""Of one picture or frame: Pillow's own mark (89,478,485) for what may be a decompression bomb."""


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


def check_size(width: int, height: int) -> tuple[int, int]:
    """Pixels of a picture as the file claims them. Raises Refused."""
    if width < 1 or height < 1:
        raise Refused(f"a picture of {width}x{height}")
    if width * height > MAX_PIXELS:
        raise Refused(f"a picture of {width}x{height} is more than {MAX_PIXELS} pixels")
    return width, height
