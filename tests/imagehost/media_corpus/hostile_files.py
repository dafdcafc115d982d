"""Images and videos that would cost too much, show nothing, lie about themselves, or are cut off.

Within the header the last are refused, within the body an image is taken as far as it goes.
"""

import random
import struct
import zlib
from functools import partial

from PIL import Image

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.pieces import (
    PNG_SIGNATURE,
    box,
    box_of,
    ebml,
    ebml_header,
    ftyp,
    jpeg_segment,
    patched,
    png,
    png_chunk,
    png_header,
    riff,
)
from tests.imagehost.media_corpus.real_images import animation, encoded, picture
from tests.imagehost.media_corpus.real_videos import MOV, MP4, WEBM, recorded
from tests.imagehost.media_corpus.sample import Content, Maker, taken

_MEBIBYTE = 1 << 20
_END = png_chunk(b"IEND")
_SEGMENT, _TRACKS = 0x18538067, 0x1654AE6B
_MP4 = ftyp(b"isom", b"isom", b"mp42")


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
    return png_header(10_100, 10_001, depth=1, color=0) + png_chunk(b"IDAT", rows) + _END


def _jpeg_of(width: int, height: int) -> bytes:
    """A JPEG whose frame header says that size."""
    return patched(encoded(media.JPEG, picture()), b"\xff\xc0", 5, struct.pack(">HH", height, width))


def _gif_of(width: int, height: int) -> bytes:
    """A GIF whose screen and picture say that size."""
    said = struct.pack("<HH", width, height)
    content = patched(encoded(media.GIF, picture("P")), b"," + struct.pack("<HHHH", 0, 0, 48, 32), 5, said)
    return content[:6] + said + content[10:]


def _avif_of(width: int, height: int) -> bytes:
    """An AVIF whose image property says that size."""
    return patched(encoded(media.AVIF, picture()), b"ispe", 8, struct.pack(">II", width, height))


def _canvas(width: int, height: int, *, flags: int = 0) -> tuple[bytes, bytes]:
    return b"VP8X", struct.pack("<I", flags) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def _overwritten(content: bytes, kind: bytes) -> bytes:
    """The body of the outer box of that kind becomes zeros."""
    start, end = box_of(content, kind)
    return content[: start + 8] + bytes(end - start - 8) + content[end:]


def _deep_boxes(depth: int) -> bytes:
    inner = b""
    for _ in range(depth):
        inner = box(b"moov", inner)
    return _MP4 + inner


def _without_moov(content: bytes) -> bytes:
    start, end = box_of(content, b"moov")
    return content[:start] + content[end:]


def _moov_alone() -> bytes:
    content = recorded(MP4)
    start, end = box_of(content, b"moov")
    return _MP4 + content[start:end]


def _webm_of_track(width: int, height: int) -> bytes:
    video = ebml(0xE0, ebml(0xB0, width.to_bytes(4, "big")) + ebml(0xBA, height.to_bytes(4, "big")))
    track = ebml(0xAE, ebml(0xD7, b"\1") + ebml(0x83, b"\1") + ebml(0x86, b"V_VP8") + video)
    return ebml_header(b"webm") + ebml(_SEGMENT, ebml(_TRACKS, track))


def _webm_of_frame_size(width: int, height: int) -> bytes:
    """Key frames that say another size than the track does (RFC 6386 §9.1)."""
    mark = b"\x9d\x01\x2a"
    return recorded(WEBM).replace(mark + struct.pack("<HH", *WEBM.size), mark + struct.pack("<HH", width, height))


def _webm_cut_before_clusters() -> bytes:
    content = recorded(WEBM)
    return content[: content.index(b"\x1f\x43\xb6\x75")]


_SIZE = (64, 48)
_FILMS = {media.MP4: MP4, media.WEBM: WEBM, media.MOV: MOV}
_IN_HEADER = {
    media.PNG: (16, 40), media.JPEG: (20, 600), media.WEBP: (16, 500), media.GIF: (10, 400), media.AVIF: (32, 250),
    media.MP4: (32, 1500), media.WEBM: (30, 400), media.MOV: (32, 1500),
}  # fmt: skip
_IN_BODY = {media.PNG: (0.2, 0.99), media.JPEG: (0.3, 0.95), media.GIF: (0.3, 0.95)}


def _whole(type_: MediaType) -> bytes:
    """A film, or noise, so that the body is much longer than the header; the same in each run."""
    if type_ in _FILMS:
        return recorded(_FILMS[type_])
    noise = random.Random(1).randbytes(3 * _SIZE[0] * _SIZE[1])  # noqa: S311  # no secret
    return encoded(type_, Image.frombytes("RGB", _SIZE, noise))


def _cut(type_: MediaType, length: float) -> bytes:
    """`length`: in bytes, or a part of the whole."""
    whole = _whole(type_)
    return whole[: length if isinstance(length, int) else round(len(whole) * length)]


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
    "webm-bomb": lambda: _webm_of_frame_size(16_383, 16_383),
    "webm-bomb-by-track": lambda: _webm_of_track(2**31 - 1, 2**31 - 1),
    "mp4-sample-count-bomb": lambda: patched(recorded(MP4), b"stsz", 12, b"\xff" * 4),
    "mp4-nested-boxes": lambda: _deep_boxes(2000),
    # nothing to see
    "png-0x0": lambda: _claimed_png(0, 0),
    "jpeg-0x0": lambda: _jpeg_of(0, 0),
    "gif-0x0": lambda: _gif_of(0, 0),
    "avif-0x0": lambda: _avif_of(0, 0),
    "png-without-data": lambda: png_header(4, 4) + _END,
    "png-without-header": lambda: PNG_SIGNATURE + png_chunk(b"IDAT", zlib.compress(bytes(52))) + _END,
    "gif-without-picture": lambda: b"GIF89a\4\0\4\0\0\0\0!\xfe\x04only\0;",
    "webp-without-picture": lambda: riff(_canvas(4, 4)),
    "webp-empty": riff,
    "jpeg-of-four-bytes": lambda: b"\xff\xd8\xff\xe0",
    "jpeg-without-frame": lambda: b"\xff\xd8" + jpeg_segment(0xE0, b"JFIF\0" + bytes(9)) + b"\xff\xd9",
    "avif-brand-alone": lambda: ftyp(b"avif", b"avif", b"mif1"),
    "avif-with-empty-meta": lambda: ftyp(b"avif", b"mif1") + box(b"meta", bytes(4)) + box(b"mdat"),
    "mp4-brand-alone": lambda: _MP4,
    "mp4-without-moov": lambda: _without_moov(recorded(MP4)),
    "mp4-without-mdat": _moov_alone,
    "mp4-with-empty-moov": lambda: _MP4 + box(b"moov") + box(b"mdat", bytes(100)),
    "mov-without-moov": lambda: _without_moov(recorded(MOV)),
    "mov-mdat-alone": lambda: box(b"mdat", bytes(1000)),
    "mp4-frames-of-zeros": lambda: _overwritten(recorded(MP4), b"mdat"),
    "mp4-moov-of-zeros": lambda: _overwritten(recorded(MP4), b"moov"),
    "mp4-unknown-codec": lambda: patched(recorded(MP4), b"avc1\0", 0, b"zzzz"),
    "webm-header-alone": lambda: ebml_header(b"webm"),
    "webm-empty-segment": lambda: ebml_header(b"webm") + ebml(_SEGMENT),
    "webm-track-without-frames": lambda: _webm_of_track(96, 64),
    "webm-cut-before-clusters": _webm_cut_before_clusters,
    "webm-0x0": lambda: _webm_of_frame_size(0, 0),
    # lies
    "png-bad-checksum": lambda: patched(png(), b"IHDR", 17, b"\0"),
    "png-unknown-critical-chunk": lambda: png(png_chunk(b"EVIL", b"x")),
    "png-second-header": lambda: png(png_header(9, 9)[8:]),
    "png-chunk-beyond-end": lambda: png_header(4, 4) + b"\x7f\xff\xff\xfftEXtComment\0",
    "jpeg-segment-beyond-end": lambda: b"\xff\xd8\xff\xe1\xff\xffExif\0\0",
    "webp-length-beyond-end": lambda: riff((b"VP8 ", bytes(40)), size=0x7FFFFFFF),
    "webp-lossy-of-zeros": lambda: riff((b"VP8 ", bytes(64))),
    "avif-meta-beyond-end": lambda: ftyp(b"avif", b"mif1") + box(b"meta", bytes(64), size=1 << 30),
    "mp4-box-of-four-bytes": lambda: patched(recorded(MP4), b"moov", -4, struct.pack(">I", 4)),
    "mp4-box-beyond-end": lambda: patched(recorded(MP4), b"moov", -4, struct.pack(">I", 2**31)),
    "mp4-box-of-long-lie": lambda: _MP4 + box(b"moov", struct.pack(">Q", 2**62), bytes(64), size=1),
    "webm-doc-type-webmx": lambda: patched(recorded(WEBM), b"\x42\x82\x84webm", 6, b"x"),
    **{
        f"{type_.extension}-cut-at-{length}": partial(_cut, type_, length)
        for type_, lengths in _IN_HEADER.items()
        for length in lengths
    },
}


def _endless_animation() -> bytes:
    """It says that it has four milliards of frames; those that are there count."""
    return patched(animation(media.PNG), b"acTL", -4, png_chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0)))


def _webp_of_zeros() -> bytes:
    """A header of one pixel in order, and nothing behind it that could be decoded."""
    return riff((b"VP8L", b"\x2f" + bytes(64)))


TAKEN: dict[str, Maker] = {
    "png-endless-animation": taken(media.PNG, _endless_animation, size=(48, 32), frames=3, duration_ms=240),
    "webp-of-zeros": taken(media.WEBP, _webp_of_zeros, size=(1, 1), frames=1),
    **{
        f"{type_.extension}-cut-at-{part:.0%}": taken(type_, partial(_cut, type_, part), size=_SIZE, frames=1)
        for type_, parts in _IN_BODY.items()
        for part in parts
    },
}
