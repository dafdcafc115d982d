"""Files that break a rule of their format, or are larger than most, and that browsers show all the same."""

import random
import struct
import zlib
from collections.abc import Callable
from functools import partial

from PIL import Image

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.hostile_files import deflated
from tests.imagehost.media_corpus.pieces import box, box_of, jpeg_segment, png, png_chunk, png_header, riff
from tests.imagehost.media_corpus.real_images import SIZE, animation, encoded, of_brand, picture
from tests.imagehost.media_corpus.real_videos import MP4, WEBM, Recipe, film_facts, recorded
from tests.imagehost.media_corpus.sample import PLACE, Content, Maker, taken

NOISE = random.Random(2).randbytes(3000)  # noqa: S311  # no secret
PRIVATE = b"\x01\x02" + PLACE.encode() + NOISE
"""As cameras and editors leave it behind a picture, in forms of their own."""
_STILLS = (media.PNG, media.JPEG, media.WEBP, media.GIF, media.AVIF)
_FRAGMENTED = Recipe("mp4", "libx264", options={"movflags": "frag_keyframe+empty_moov"}, tune=MP4.tune)


def _image(type_: MediaType) -> bytes:
    return encoded(type_, picture(), **({"speed": 10} if type_ is media.AVIF else {}))


def _with_tail(type_: MediaType) -> Content:
    return lambda: _image(type_) + PRIVATE


def cropped_screenshot() -> bytes:
    """A smaller picture written over a larger one, of which the end is still there."""
    noise = Image.frombytes("L", (200, 100), random.Random(3).randbytes(20_000))  # noqa: S311  # no secret
    return _image(media.PNG) + encoded(media.PNG, noise)[300:]


def jpeg_with(segment: bytes) -> bytes:
    content = _image(media.JPEG)
    return content[:20] + segment + content[20:]


def broken_exif(tiff: bytes) -> Content:
    return lambda: jpeg_with(jpeg_segment(0xE1, b"Exif\0\0" + tiff))


def _wrong(kind: bytes, body: bytes) -> bytes:
    """A chunk whose checksum is another's."""
    return png_chunk(kind, body)[:-4] + b"oops"


def large_profile() -> bytes:
    """A color profile of two megabytes when it is unpacked."""
    return png(png_chunk(b"iCCP", b"profile\0\0" + deflated(2 << 20)), width=SIZE[0], height=SIZE[1])


def behind_png(chunk: bytes) -> Content:
    """Between the image data and the end."""
    return lambda: png(width=SIZE[0], height=SIZE[1])[:-12] + chunk + png_chunk(b"IEND")


def before_png(chunk: bytes) -> Content:
    return lambda: png(chunk, width=SIZE[0], height=SIZE[1])


def stray_gif() -> bytes:
    """Three bytes of nothing before the second frame, where browsers stop."""
    content = animation(media.GIF, loop=0)
    second = content.index(b"\x21\xf9\x04", content.index(b"\x21\xf9\x04") + 1)
    return content[:second] + b"\x01\x02\x03" + content[second:]


def early_avif() -> bytes:
    """As early encoders wrote it: a table of properties for each of the two items, which libavif refuses."""
    content = encoded(media.AVIF, picture("RGBA"), speed=10)
    start = content.index(b"ipma") - 4
    end = start + int.from_bytes(content[start : start + 4], "big")
    first, second = (content[at : at + 3 + content[at + 2]] for at in (start + 16, start + 19 + content[start + 18]))
    tables = b"".join(
        box(b"ipma", content[start + 8 : start + 12], struct.pack(">I", 1), one) for one in (first, second)
    )
    longer = len(tables) - (end - start)
    numbers = [content.index(kind) - 4 for kind in (b"meta", b"iprp")]  # lengths, and where the two items lie
    numbers += [content.index(b"iloc") + 18, content.index(b"iloc") + 32]
    moved = bytearray(content[:start] + tables + content[end:])
    for at in numbers:
        moved[at : at + 4] = struct.pack(">I", int.from_bytes(moved[at : at + 4], "big") + longer)
    return bytes(moved)


def large_png(width: int, height: int) -> bytes:
    """Black and white."""
    rows = zlib.compress((b"\0" + bytes(-(-width // 8))) * height, 1)
    return png_header(width, height, depth=1, color=0) + png_chunk(b"IDAT", rows) + png_chunk(b"IEND")


def plain_jpeg(width: int, height: int) -> bytes:
    """Grey. Each block is six bits: as bright as the one before (00), nothing else (1010); T.81, tables K.3 and K.5."""
    content = encoded(media.JPEG, Image.new("L", (8, 8), 128))
    frame, scan = content.index(b"\xff\xc0") + 5, content.index(b"\xff\xda")
    head = content[:frame] + struct.pack(">HH", height, width) + content[frame + 4 : scan + 10]
    blocks = -(-width // 8) * -(-height // 8)
    return head + b"\x28\xa2\x8a" * -(-blocks // 4) + b"\xff\xd9"


def plain_webp(width: int, height: int) -> bytes:
    """Black. Each of the five codes has one symbol, so no pixel takes a bit (WebP lossless, 6.2)."""
    symbol_0, symbol_255 = [(1, 1), (0, 1), (0, 1), (0, 1)], [(1, 1), (0, 1), (1, 1), (255, 8)]
    head = [(0x2F, 8), (width - 1, 14), (height - 1, 14), (0, 1), (0, 3), (0, 1), (0, 1), (0, 1)]
    bits = at = 0
    for number, length in (*head, *symbol_0 * 3, *symbol_255, *symbol_0):
        bits, at = bits | number << at, at + length
    return riff((b"VP8L", bits.to_bytes(-(-at // 8), "little")))


def screenless_gif() -> bytes:
    content = encoded(media.GIF, picture("P"))
    return content[:6] + bytes(4) + content[10:]


_IMAGES: dict[str, tuple[MediaType, Content]] = {
    **{f"{type_.extension}-and-a-tail": (type_, _with_tail(type_)) for type_ in _STILLS},
    "jpg-and-one-byte": (media.JPEG, lambda: _image(media.JPEG) + b"\x80"),
    "jpg-and-a-film": (media.JPEG, lambda: _image(media.JPEG) + recorded(MP4)),
    "jpg-without-end-and-another": (media.JPEG, lambda: _image(media.JPEG)[:-2] + _image(media.JPEG)),
    "png-and-a-second-end": (media.PNG, lambda: _image(media.PNG) + png_chunk(b"IEND")),
    "png-cropped-screenshot": (media.PNG, cropped_screenshot),
    "jpg-exif-without-order": (media.JPEG, broken_exif(b"\xff" * 8)),
    "jpg-exif-of-four-bytes": (media.JPEG, broken_exif(b"MM\0*")),
    "jpg-exif-cut-off": (media.JPEG, broken_exif(struct.pack("<2sHIHHHI", b"II", 42, 8, 9, 0x011A, 5, 1))),
    "jpg-profile-without-a-number": (media.JPEG, lambda: jpeg_with(jpeg_segment(0xE2, b"ICC_PROFILE\0"))),
    "jpg-segment-of-no-length": (media.JPEG, lambda: jpeg_with(b"\xff\xfe\0\0")),
    "png-long-text": (media.PNG, before_png(png_chunk(b"zTXt", b"Comment\0\0" + deflated(64 << 20)))),
    "png-large-profile": (media.PNG, large_profile),
    "png-wrong-checksum": (media.PNG, before_png(_wrong(b"pHYs", bytes(9)) + _wrong(b"iCCP", b"a\0\0b"))),
    "png-short-chunks": (media.PNG, before_png(png_chunk(b"cHRM", bytes(31)) + png_chunk(b"sRGB"))),
    "png-profile-of-another-method": (media.PNG, before_png(png_chunk(b"iCCP", b"a\0\1" + zlib.compress(b"x")))),
    "png-profile-without-a-name": (media.PNG, before_png(png_chunk(b"iCCP", b"profile"))),
    "png-odd-name-of-a-chunk": (media.PNG, before_png(png_chunk(b"t<xt", PRIVATE))),
    "png-unknown-behind-the-data": (media.PNG, behind_png(png_chunk(b"EVIL", PRIVATE))),
    "png-no-chunk-behind-the-data": (media.PNG, behind_png(b"\xff" * 8 + PRIVATE)),
    "gif-stray-bytes": (media.GIF, stray_gif),
    "gif-without-screen": (media.GIF, screenless_gif),
    "avif-by-an-early-encoder": (media.AVIF, early_avif),
    "avif-unknown-box": (media.AVIF, lambda: _image(media.AVIF) + box(b"note", PRIVATE)),
}
_LARGE: dict[str, tuple[MediaType, Callable[[int, int], bytes], tuple[int, int]]] = {
    "jpg-of-250-megapixels": (media.JPEG, plain_jpeg, (15_811, 15_811)),
    "png-page-of-101-megapixels": (media.PNG, large_png, (1_440, 70_000)),
    "webp-of-100-megapixels": (media.WEBP, plain_webp, (10_000, 10_000)),
}


def of_unknown_brands(content: bytes) -> bytes:
    """The same film, of which no brand says what it is."""
    start, end = box_of(content, b"ftyp")
    return content[: start + 8] + (b"zzzz" * end)[: end - 8] + content[end:]


_FILMS: dict[str, tuple[MediaType, Content]] = {
    "mp4-and-a-tail": (media.MP4, lambda: recorded(MP4) + PRIVATE),
    "webm-and-a-tail": (media.WEBM, lambda: recorded(WEBM) + PRIVATE),
    "mp4-unknown-box": (media.MP4, lambda: recorded(MP4) + box(b"note", PRIVATE)),
    "mp4-cut-in-a-fragment": (media.MP4, lambda: recorded(_FRAGMENTED) + struct.pack(">I", 500) + b"moof" + NOISE[:99]),
    "mp4-brands-unknown": (media.MP4, lambda: of_unknown_brands(recorded(MP4))),
    "mp4-brand-3gp": (media.MP4, lambda: of_brand(recorded(MP4), b"3gp5")),
}


MAKERS: dict[str, Maker] = {
    **{name: taken(type_, make, size=SIZE, frames=1) for name, (type_, make) in _IMAGES.items()},
    **{name: taken(type_, partial(make, *size), size=size, frames=1) for name, (type_, make, size) in _LARGE.items()},
    **{name: taken(type_, make, **film_facts()) for name, (type_, make) in _FILMS.items()},
}
