"""Header parse and thumbnail of images, by Pillow. Runs in the confined child."""

import struct
from collections.abc import Iterator
from typing import BinaryIO

import av
from PIL import AvifImagePlugin, ExifTags, Image, PngImagePlugin

from imagehost import media
from imagehost.examining.prober import colors, videos
from imagehost.examining.prober.errors import BROKEN, believable, check_size
from imagehost.examining.stripping import gif
from imagehost.media import FileFacts, MediaType

AvifImagePlugin.DEFAULT_MAX_THREADS = 1
Image.MAX_IMAGE_PIXELS = media.JPEG.max_pixels  # of any type; `check_size` has the limit of each
PngImagePlugin.MAX_TEXT_CHUNK = 16 << 20  # bytes of a color profile; the strip has removed texts

_UPRIGHT = {  # the transposition for an Exif orientation
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_STRIP = 32  # rows of a reduced picture at a time
_SIDEWAYS = frozenset({5, 6, 7, 8})  # these swap width and height


def facts(file: BinaryIO, type_: MediaType) -> FileFacts:
    """Return the facts of a picture. Raises Refused or one of `errors.BROKEN`."""
    try:
        with _opened(file, type_) as image:
            width, height = image.size[::-1] if _orientation(image) in _SIDEWAYS else image.size
            counted = getattr(image, "n_frames", 1) if type_ is media.AVIF else 1
    except SyntaxError:
        if type_ is not media.AVIF:
            raise
        found = videos.facts(file, type_)  # libavif is stricter with files of early encoders
        return FileFacts(type_.mime, found.width, found.height, frames=1)
    frames, duration_ms = measure(file, type_, counted)
    return FileFacts(type_.mime, width, height, duration_ms, frames)


def thumbnail(file: BinaryIO, type_: MediaType, longest_side: int) -> Image.Image:
    """Return the first frame: upright, in sRGB, perhaps with alpha, no side over `longest_side`. Raises as `facts`.

    FFmpeg needs less memory and is less strict than Pillow's decoders, but drops alpha.
    """
    try:
        return _drawn(file, type_, longest_side)
    except (SyntaxError, RuntimeError, MemoryError):
        if not type_.demuxer:
            raise
    # Outside the `except` block, the exception no longer keeps the frames that hold Pillow's pictures in memory.
    return videos.poster(file, type_, longest_side)


def _drawn(file: BinaryIO, type_: MediaType, longest_side: int) -> Image.Image:
    with _opened(file, type_) as image:
        image.draft("RGB", (longest_side, longest_side))  # a JPEG is decoded at a fraction of its size
        turned = _UPRIGHT.get(_orientation(image))
        picture = _reduced(image, longest_side)
    picture.thumbnail((longest_side, longest_side))
    picture = colors.to_srgb(picture, _profile(file, type_, picture.info.get("icc_profile")))
    return picture if turned is None else picture.transpose(turned)


def _profile(file: BinaryIO, type_: MediaType, embedded: bytes | None) -> bytes | None:
    """Return the profile that browsers use: code points come before the embedded one in a PNG, after it in an AVIF.

    PNG, third edition, 11.3.2.6.
    """
    for kind, _ in _png_chunks(file) if type_ is media.PNG else ():
        if kind == b"IDAT":
            break
        if kind == b"cICP" and len(codes := file.read(2)) == 2:
            return colors.of_codes(*codes) or embedded
    return embedded or (videos.coded_colors(file, type_) if type_ is media.AVIF else None)


def _orientation(image: Image.Image) -> int:
    """Return the orientation in the header, for an AVIF from `irot` and `imir`; 1 where it is damaged.

    Pillow's getexif() would decode a whole PNG.
    """
    exif = Image.Exif()
    try:
        exif.load(image.info.get("exif", b""))
    except BROKEN:
        return 1
    orientation = exif.get(ExifTags.Base.Orientation)
    return orientation if orientation in _UPRIGHT else 1


def _opened(file: BinaryIO, type_: MediaType) -> Image.Image:
    file.seek(0)
    if type_ is media.AVIF:
        image: Image.Image = AvifImagePlugin.AvifImageFile(file)  # Image.open() accepts fewer brands
    else:
        image = Image.open(file, formats=[type_.pillow])
    check_size(*image.size, type_)
    return image


def _reduced(image: Image.Image, longest_side: int) -> Image.Image:
    """Decode the picture, reduced to at least twice `longest_side`.

    It works by strips: the memory limit has no room for a second copy of the largest pictures.
    """
    image.load()
    mode = "RGBA" if image.has_transparency_data else "RGB"
    factor = max(image.size) // (2 * longest_side)
    if factor < 2:
        return _in_color(image, mode)
    width, height = image.size
    reduced = Image.new(mode, (-(-width // factor), -(-height // factor)))
    reduced.info = image.info
    for top in range(0, height, factor * _STRIP):
        strip = image.crop((0, top, width, min(height, top + factor * _STRIP)))
        reduced.paste(_in_color(strip, mode).reduce(factor), (0, top // factor))
    return reduced


def _in_color(image: Image.Image, mode: str) -> Image.Image:
    if image.mode.startswith("I"):  # 16 bits for each pixel, which convert() would clip at 255
        image = image.point(lambda value: value * (1 / 256)).convert("L")
    return image.convert(mode)


def measure(file: BinaryIO, type_: MediaType, frames: int) -> tuple[int, int | None]:
    """Return the number of frames and the milliseconds, None for a still. `frames`: as the decoder counted them."""
    file.seek(0)
    if type_ is media.AVIF:
        if frames <= 1:
            return frames, None
        with av.open(file, mode="r", format=type_.demuxer) as container:
            return frames, None if container.duration is None else believable(container.duration / 1000)
    count, total = 0, 0.0
    for delay in _COUNTED[type_](file) if type_ in _COUNTED else ():
        count, total = count + 1, total + delay
    return max(count, 1), believable(total) if count > 1 else None


def _png_chunks(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield (kind, length) of each chunk before the end, with `file` at its body."""
    position = 8
    file.seek(position)
    while len(head := file.read(8)) == 8 and head[4:] != b"IEND":
        length, kind = struct.unpack(">I4s", head)
        yield kind, length
        position += 12 + length
        file.seek(position)


def _png_delays(file: BinaryIO) -> Iterator[float]:
    """Yield the delay of each `fcTL` in ms (PNG, third edition §11.3.6.2)."""
    for kind, length in _png_chunks(file):
        if kind == b"fcTL":
            numerator, denominator = struct.unpack_from(">HH", file.read(length).ljust(26, b"\0"), 20)
            yield 1000 * numerator / (denominator or 100)


def _webp_delays(file: BinaryIO) -> Iterator[float]:
    """Yield the delay of each `ANMF` in ms (RFC 9649 §2.7.1.1)."""
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
    """Yield the delay of each picture in ms (GIF89a §20, §23), 0 without a Graphic Control Extension."""
    file.seek(10)
    file.seek(gif.color_table(file.read(3)[0]), 1)
    delay = 0.0
    while (introducer := file.read(1)) in (b"!", b","):
        if introducer == b",":
            yield delay
            delay = 0.0
            file.seek(gif.color_table(file.read(9).ljust(9, b"\0")[8]) + 1, 1)
        elif file.read(1) == b"\xf9":
            delay = 10.0 * struct.unpack_from("<H", file.read(5).ljust(5, b"\0"), 2)[0]
        while (length := file.read(1)) not in (b"\0", b""):
            file.seek(length[0], 1)


_COUNTED = {media.PNG: _png_delays, media.WEBP: _webp_delays, media.GIF: _gif_delays}
