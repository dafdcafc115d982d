"""Removes private metadata from a file without decoding or encoding a picture: `strip`.

Each format has a list of the parts that stay; everything else is removed: places, times, names, devices, comments,
thumbnails, and bytes outside of any part. A picture's orientation, color profile and animation stay. There is one
module for each container. It reads the whole file before it writes, so a refused file is unchanged.
"""

from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from imagehost import media
from imagehost.examining.stripping import ebml, gif, isobmff, jpeg, png, tails, webp
from imagehost.examining.stripping.rewriting import ForeignBytes, Malformed, Refusal, TooManyParts

__all__ = ["ForeignBytes", "Malformed", "Refusal", "TooManyParts", "strip"]

_STRIPPERS: dict[media.MediaType, Callable[[BinaryIO], None]] = {
    media.JPEG: jpeg.strip,
    media.PNG: png.strip,
    media.WEBP: webp.strip,
    media.GIF: gif.strip,
    media.AVIF: partial(isobmff.strip, is_image=True),
    media.MP4: isobmff.strip,
    media.MOV: isobmff.strip,
    media.WEBM: ebml.strip,
}


def strip(file: BinaryIO, media_type: media.MediaType) -> None:
    """Remove private metadata from `file` in place; opened "r+b", of the type `media_type` by its signature.

    Images other than AVIF become shorter; AVIF and videos keep every offset. Bytes after the end are cut off. Reads at
    most 1 MiB at a time, and writes only where there is something to remove. A truncated body stays as it is. Raises
    Refusal, before the first write unless a ZIP record is found in what stays.
    """
    tails.refuse_archive(file)
    _STRIPPERS[media_type](file)
    file.flush()
    tails.refuse_archive(file)  # a record in a part that stays is nearer to the end now
