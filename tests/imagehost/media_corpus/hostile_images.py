"""Images that would cost too much, show nothing, or lie about themselves."""

import struct
import zlib

from imagehost import media
from tests.imagehost.media_corpus.pieces import (
    PNG_SIGNATURE,
    box,
    ftyp,
    jpeg_segment,
    png,
    png_chunk,
    png_header,
    riff,
)
from tests.imagehost.media_corpus.real_images import animation, encoded, picture
from tests.imagehost.media_corpus.sample import Content, Maker, Sample, taken

_MEBIBYTE = 1 << 20
_END = png_chunk(b"IEND")


def deflated(size: int) -> bytes:
    """A zlib stream that unpacks to `size` zeros."""
    packer = zlib.compressobj(1)
    zeros = bytes(_MEBIBYTE)
    return b"".join(packer.compress(zeros) for _ in range(size // _MEBIBYTE)) + packer.flush()


def _claimed_png(width: int, height: int) -> bytes:
    return png_header(width, height) + png_chunk(b"IDAT", zlib.compress(bytes(64))) + _END


def _whole_png_bomb() -> bytes:
    """10,100 x 10,001 black and white pixels, all there: 12 MB of rows in a file of some 50 KB."""
    rows = zlib.compress((b"\0" + bytes(1263)) * 10_001, 1)
    return png_header(10_100, 10_001, depth=1, colour=0) + png_chunk(b"IDAT", rows) + _END


def _jpeg_of(width: int, height: int) -> bytes:
    """A JPEG whose frame header says that size."""
    content = encoded(media.JPEG, picture())
    frame = content.index(b"\xff\xc0")
    return content[: frame + 5] + struct.pack(">HH", height, width) + content[frame + 9 :]


def _gif_of(width: int, height: int) -> bytes:
    """A GIF whose screen and picture say that size."""
    content = encoded(media.GIF, picture("P"))
    part = content.index(b"," + struct.pack("<HHHH", 0, 0, 48, 32))
    said = struct.pack("<HH", width, height)
    return content[:6] + said + content[10 : part + 5] + said + content[part + 9 :]


def _avif_of(width: int, height: int) -> bytes:
    """An AVIF whose image property says that size."""
    content = encoded(media.AVIF, picture())
    at = content.index(b"ispe") + 8
    return content[:at] + struct.pack(">II", width, height) + content[at + 8 :]


def _canvas(width: int, height: int, *, flags: int = 0) -> tuple[bytes, bytes]:
    return b"VP8X", struct.pack("<I", flags) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def _png_with_bad_checksum() -> bytes:
    content = bytearray(png())
    content[29] ^= 0xFF
    return bytes(content)


def _gif_without_picture() -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", 4, 4, 0, 0, 0) + b"!\xfe\x04only\0;"


REFUSED: dict[str, Content] = {
    # bombs
    "png-bomb-by-header": lambda: _claimed_png(50_000, 50_000),
    "png-bomb-whole": _whole_png_bomb,
    "png-profile-bomb": lambda: png(png_chunk(b"iCCP", b"sRGB\0\0" + deflated(64 * _MEBIBYTE))),
    "jpeg-bomb": lambda: _jpeg_of(65_500, 65_500),
    "jpeg-of-more-than-250-megapixels": lambda: _jpeg_of(15_812, 15_811),
    "gif-bomb": lambda: _gif_of(65_535, 65_535),
    "webp-bomb": lambda: riff(_canvas(16_383, 16_383, flags=2), (b"ANIM", bytes(6))),
    "avif-bomb": lambda: _avif_of(60_000, 60_000),
    # nothing to see
    "png-0x0": lambda: _claimed_png(0, 0),
    "jpeg-0x0": lambda: _jpeg_of(0, 0),
    "gif-0x0": lambda: _gif_of(0, 0),
    "avif-0x0": lambda: _avif_of(0, 0),
    "png-without-data": lambda: png_header(4, 4) + _END,
    "png-without-header": lambda: PNG_SIGNATURE + png_chunk(b"IDAT", zlib.compress(bytes(52))) + _END,
    "gif-without-picture": _gif_without_picture,
    "webp-without-picture": lambda: riff(_canvas(4, 4)),
    "webp-empty": riff,
    "jpeg-of-four-bytes": lambda: b"\xff\xd8\xff\xe0",
    "jpeg-without-frame": lambda: b"\xff\xd8" + jpeg_segment(0xE0, b"JFIF\0" + bytes(9)) + b"\xff\xd9",
    "avif-brand-alone": lambda: ftyp(b"avif", b"avif", b"mif1"),
    "avif-with-empty-meta": lambda: ftyp(b"avif", b"mif1") + box(b"meta", bytes(4)) + box(b"mdat"),
    # lies
    "png-bad-checksum": _png_with_bad_checksum,
    "png-unknown-critical-chunk": lambda: png(png_chunk(b"EVIL", b"x")),
    "png-second-header": lambda: png(png_header(9, 9)[8:]),
    "png-chunk-beyond-end": lambda: png_header(4, 4) + b"\x7f\xff\xff\xfftEXtComment\0",
    "jpeg-segment-beyond-end": lambda: b"\xff\xd8\xff\xe1\xff\xffExif\0\0",
    "webp-length-beyond-end": lambda: riff((b"VP8 ", bytes(40)), size=0x7FFFFFFF),
    "webp-lossy-of-zeros": lambda: riff((b"VP8 ", bytes(64))),
    "avif-meta-beyond-end": lambda: ftyp(b"avif", b"mif1") + box(b"meta", bytes(64), size=1 << 30),
}


def _endless_animation() -> Sample:
    """It says that it has four milliards of frames; those that are there count."""
    content = animation(media.PNG)
    at = content.index(b"acTL")
    control = png_chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0))
    changed = content[: at - 4] + control + content[at + 16 :]
    return taken(media.PNG, changed, size=(48, 32), frames=3, duration_ms=240)


def _webp_of_zeros() -> Sample:
    """A header of one pixel in order, and nothing behind it that could be decoded."""
    content = riff((b"VP8L", b"\x2f" + bytes(64)))
    return taken(media.WEBP, content, size=(1, 1), frames=1)


TAKEN: dict[str, Maker] = {
    "png-endless-animation": _endless_animation,
    "webp-of-zeros": _webp_of_zeros,
}
