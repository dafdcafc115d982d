"""Images as programs write them: Pillow's encoders and FFmpeg's."""

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import av
from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.pieces import png_chunk, png_header
from tests.imagehost.media_corpus.sample import PLACE, Maker, Sample, taken

SIZE = (48, 32)
UPRIGHT = (32, 48)
from_image: Callable[[Image.Image], av.VideoFrame] = av.VideoFrame.from_image  # PyAV does not type it
_PLUGINS = {media.PNG: "PNG", media.JPEG: "JPEG", media.WEBP: "WEBP", media.GIF: "GIF", media.AVIF: "AVIF"}


def picture(mode: str = "RGB", turn: int = 0) -> Image.Image:
    """Four fields of colour, so that every rotation looks different."""
    drawn = Image.new("RGB", SIZE, "white")
    for colour, corner in (("red", (0, 0)), ("green", (24, 0)), ("blue", (0, 16)), ("yellow", (24, 16))):
        drawn.paste(colour, (*corner, corner[0] + 24, corner[1] + 16))
    drawn = drawn.transpose(Image.Transpose.ROTATE_180) if turn % 2 else drawn
    if mode == "I;16":
        return drawn.convert("L").convert("I").point(lambda value: value * 256).convert("I;16")
    if mode == "RGBA":
        drawn.putalpha(128)
    return drawn.convert(mode)


def phone_exif(orientation: int | None = None) -> Image.Exif:
    """A camera, a time and a place."""
    exif = Image.Exif()
    exif[0x010F], exif[0x0132], exif[0x010E] = "Camera Maker", "2026:01:02 03:04:05", PLACE
    if orientation:
        exif[0x0112] = orientation
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 27.7), 3: "E", 4: (2.0, 17.0, 42.0)})
    return exif


def colour_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def encoded(type_: MediaType, drawn: Image.Image, **options: Any) -> bytes:
    """`options` are those of the Pillow plugin."""
    written = io.BytesIO()
    drawn.save(written, options.pop("format", _PLUGINS[type_]), **options)
    return written.getvalue()


def animation(type_: MediaType, **options: Any) -> bytes:
    """Three frames, 80 ms each."""
    rest = [picture(turn=1), picture("L").convert("RGB")]
    return encoded(type_, picture(), save_all=True, append_images=rest, duration=80, **options)


def by_ffmpeg(codec: str, muxer: str | None, pixels: str, frames: int = 1) -> bytes:
    """By FFmpeg's encoder; a bare packet where `muxer` is None."""
    written = io.BytesIO()
    with av.open(written, "w", format=muxer or "rawvideo") as container:
        stream: Any = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt = *SIZE, pixels
        stream.codec_context.thread_count = 1
        drawn = [from_image(picture(turn=number)).reformat(format=pixels) for number in range(frames)]
        packets = [packet for frame in [*drawn, None] for packet in stream.encode(frame)]
        if muxer is None:
            return bytes(packets[0])
        for packet in packets:
            container.mux(packet)
    return written.getvalue()


def interlaced_png() -> bytes:
    """Seven passes (Adam7); Pillow reads them and does not write them."""
    drawn = picture()
    rows = bytearray()
    for left, top, across, down in (
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ):  # fmt: skip
        for y in range(top, SIZE[1], down):
            pixels = (drawn.getpixel((x, y)) for x in range(left, SIZE[0], across))
            rows += b"\0" + b"".join(bytes(pixel) for pixel in pixels if isinstance(pixel, tuple))
    return png_header(*SIZE, interlaced=True) + png_chunk(b"IDAT", zlib.compress(bytes(rows))) + png_chunk(b"IEND")


def gif87a() -> bytes:
    """Pillow writes 89a as soon as anything needs it, and this needs nothing."""
    content = encoded(media.GIF, picture("P"))
    return b"GIF87a" + content[6:]


def commented_png() -> bytes:
    notes = PngInfo()
    notes.add_text("Comment", PLACE)
    notes.add_text("Description", PLACE, zip=True)
    notes.add_itxt("Author", PLACE, lang="en")
    notes.add(b"tIME", struct.pack(">HBBBBB", 2026, 1, 2, 3, 4, 5))
    return encoded(media.PNG, picture(), pnginfo=notes, exif=phone_exif(), icc_profile=colour_profile())


def of_brand(content: bytes, major: bytes) -> bytes:
    """The same file under another major brand."""
    return content[:8] + major + content[12:]


_MOVING: dict[str, Any] = {"frames": 3, "duration_ms": 240}


def _one(name: str, type_: MediaType, mode: str = "RGB", facts: dict[str, Any] | None = None, **options: Any) -> Maker:
    """A sample of Pillow's encoder."""

    def make() -> Sample:
        said = {"size": SIZE, "frames": 1, **(facts or {})}
        exif = {"exif": phone_exif(options["exif"] or None)} if "exif" in options else {}
        return taken(type_, name, encoded(type_, picture(mode), **{**options, **exif}), **said)

    return make


def _moving(name: str, type_: MediaType, **options: Any) -> Maker:
    return lambda: taken(type_, name, animation(type_, **options), size=SIZE, **_MOVING)


def _made(name: str, type_: MediaType, make: Callable[[], bytes], **facts: Any) -> Maker:
    return lambda: taken(type_, name, make(), **{"size": SIZE, "frames": 1, **facts})


_RED = picture("P").getpixel((0, 0))
_GPS = {"has_gps": True}
_TURNED = {"has_gps": True, "size": UPRIGHT}

_PNGS: dict[str, dict[str, Any]] = {
    "png-rgb": {}, "png-rgba": {"mode": "RGBA"}, "png-palette": {"mode": "P"}, "png-bilevel": {"mode": "1"},
    "png-grey": {"mode": "L"}, "png-grey-alpha": {"mode": "LA"}, "png-grey-16-bit": {"mode": "I;16"},
    "png-palette-transparent": {"mode": "P", "transparency": _RED}, "png-gps": {"exif": 0, "facts": _GPS},
    "png-turned": {"exif": 6, "facts": _TURNED},
}  # fmt: skip
_JPEGS: dict[str, dict[str, Any]] = {
    "jpeg-baseline": {}, "jpeg-progressive": {"progressive": True}, "jpeg-grey": {"mode": "L"},
    "jpeg-cmyk": {"mode": "CMYK"}, "jpeg-full-chroma": {"subsampling": 0, "quality": 95, "optimize": True},
    "jpeg-restarts": {"restart_marker_blocks": 1}, "jpeg-comment": {"comment": PLACE, "facts": _GPS},
    "jpeg-gps": {"exif": 0, "facts": _GPS}, "jpeg-turned-upside-down": {"exif": 3, "facts": _GPS},
    "jpeg-turned-right": {"exif": 6, "facts": _TURNED}, "jpeg-turned-left": {"exif": 8, "facts": _TURNED},
    "jpeg-mirrored-and-turned": {"exif": 5, "facts": _TURNED}, "jpeg-xmp": {"xmp": PLACE.encode(), "facts": _GPS},
}  # fmt: skip
_WEBPS: dict[str, dict[str, Any]] = {
    "webp-lossy": {}, "webp-lossless": {"lossless": True}, "webp-alpha": {"mode": "RGBA"},
    "webp-lossless-alpha": {"mode": "RGBA", "lossless": True}, "webp-gps": {"exif": 0, "facts": _GPS},
    "webp-turned": {"exif": 6, "facts": _TURNED}, "webp-xmp": {"xmp": PLACE.encode(), "facts": _GPS},
}  # fmt: skip
_GIFS: dict[str, dict[str, Any]] = {
    "gif-89a-transparent": {"mode": "P", "transparency": _RED}, "gif-plain": {"mode": "P", "interlace": 0},
    "gif-comment": {"mode": "P", "comment": PLACE.encode(), "facts": _GPS},
}  # fmt: skip
_AVIFS: dict[str, dict[str, Any]] = {
    "avif-lossy": {}, "avif-alpha": {"mode": "RGBA"}, "avif-full-chroma": {"subsampling": "4:4:4", "quality": 100},
    "avif-grey": {"mode": "L"}, "avif-gps": {"exif": 0, "facts": _GPS}, "avif-turned": {"exif": 6, "facts": _TURNED},
    "avif-xmp": {"xmp": PLACE.encode(), "facts": _GPS},
}  # fmt: skip

MAKERS: dict[str, Maker] = {
    **{name: _one(name, media.PNG, **options) for name, options in _PNGS.items()},
    **{name: _one(name, media.JPEG, **options) for name, options in _JPEGS.items()},
    **{name: _one(name, media.WEBP, **options) for name, options in _WEBPS.items()},
    **{name: _one(name, media.GIF, **options) for name, options in _GIFS.items()},
    **{name: _one(name, media.AVIF, speed=10, **options) for name, options in _AVIFS.items()},
    "png-interlaced": _made("png-interlaced", media.PNG, interlaced_png),
    "png-by-ffmpeg": _made("png-by-ffmpeg", media.PNG, lambda: by_ffmpeg("png", None, "rgb24")),
    "png-comments": _made("png-comments", media.PNG, commented_png, has_gps=True),
    "png-animated": _moving("png-animated", media.PNG),
    "jpeg-by-ffmpeg": _made("jpeg-by-ffmpeg", media.JPEG, lambda: by_ffmpeg("mjpeg", None, "yuvj420p")),
    "jpeg-two-pictures": _made("jpeg-two-pictures", media.JPEG, lambda: animation(media.JPEG, format="MPO")),
    "jpeg-profile": _one("jpeg-profile", media.JPEG, icc_profile=colour_profile()),
    "webp-animated": _moving("webp-animated", media.WEBP),
    "webp-animated-gps": lambda: taken(
        media.WEBP, "webp-animated-gps", animation(media.WEBP, exif=phone_exif()), size=SIZE, has_gps=True, **_MOVING
    ),
    "webp-by-ffmpeg": _made("webp-by-ffmpeg", media.WEBP, lambda: by_ffmpeg("libwebp", "webp", "yuv420p")),
    "gif-87a": _made("gif-87a", media.GIF, gif87a),
    "gif-animated": _moving("gif-animated", media.GIF, loop=0),
    "gif-by-ffmpeg": _made(
        "gif-by-ffmpeg", media.GIF, lambda: by_ffmpeg("gif", "gif", "rgb8", frames=3), frames=3, duration_ms=300
    ),
    "avif-animated": _moving("avif-animated", media.AVIF, speed=10),
    "avif-by-ffmpeg": _made("avif-by-ffmpeg", media.AVIF, lambda: by_ffmpeg("libsvtav1", "avif", "yuv420p")),
    "avif-brand-mif1": _made("avif-brand-mif1", media.AVIF, lambda: of_brand(encoded(media.AVIF, picture()), b"mif1")),
    "avif-brand-miaf": _made("avif-brand-miaf", media.AVIF, lambda: of_brand(encoded(media.AVIF, picture()), b"miaf")),
}
