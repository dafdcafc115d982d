"""Private metadata out of a file, without decoding or encoding a picture: `strip`.

What may stay is listed, everything else goes: places, times, names, devices, comments, thumbnails, and bytes that no
part of the format accounts for. A picture's orientation, its colour profile and its animation stay.
One module for each container. Each walks the whole file first and writes afterwards, so a refused file is unchanged.
"""

from typing import BinaryIO

from imagehost import media
from imagehost.stripping import ebml, gif, isobmff, jpeg, png, tails, webp
from imagehost.stripping.rewriting import ForeignBytes, Malformed, Refusal, TooManyParts

__all__ = ["ForeignBytes", "Malformed", "Refusal", "TooManyParts", "strip"]

_STRIPPERS = {
    media.JPEG: jpeg.strip,
    media.PNG: png.strip,
    media.WEBP: webp.strip,
    media.GIF: gif.strip,
    media.AVIF: isobmff.strip_image,
    media.MP4: isobmff.strip_video,
    media.MOV: isobmff.strip_video,
    media.WEBM: ebml.strip,
}


def strip(file: BinaryIO, media_type: media.MediaType) -> None:
    """Remove private metadata from `file` in place; opened "r+b", of the type `media_type` by its signature.

    Images other than AVIF become shorter; AVIF and videos keep every offset. Bytes behind the end are cut off. Reads at
    most 1 MiB at a time and rewrites nothing where there is nothing to remove. A body that is cut off stays as it is.
    Raises Refusal, before the first byte is written where it is the file as it came that is refused.
    """
    tails.refuse_archive(file)
    _STRIPPERS[media_type](file)
    file.flush()
    tails.refuse_archive(file)  # a record in a part that stays is nearer to the end now
