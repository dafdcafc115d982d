"""Images as programs write them: Pillow's encoders and FFmpeg's."""

import io
import struct
from collections.abc import Callable
from typing import Any

import av
from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.sample import PLACE, Content, Maker, taken

SIZE = (48, 32)
UPRIGHT = (32, 48)
from_image: Callable[[Image.Image], av.VideoFrame] = av.VideoFrame.from_image  # PyAV does not type it
_PLUGINS = {media.PNG: "PNG", media.JPEG: "JPEG", media.WEBP: "WEBP", media.GIF: "GIF", media.AVIF: "AVIF"}


def picture(mode: str = "RGB", turn: int = 0) -> Image.Image:
    """Four fields of color, so that every rotation looks different."""
    drawn = Image.new("RGB", SIZE, "white")
    for color, corner in (("red", (0, 0)), ("green", (24, 0)), ("blue", (0, 16)), ("yellow", (24, 16))):
        drawn.paste(color, (*corner, corner[0] + 24, corner[1] + 16))
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


def color_profile() -> bytes:
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


def avif_by_ffmpeg() -> bytes:
    written = io.BytesIO()
    with av.open(written, "w", format="avif") as container:
        stream: Any = container.add_stream("libsvtav1", rate=10)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for frame in (from_image(picture()).reformat(format="yuv420p"), None):
            container.mux(stream.encode(frame))
    return written.getvalue()


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
    return encoded(media.PNG, picture(), pnginfo=notes, exif=phone_exif(), icc_profile=color_profile())


def of_brand(content: bytes, major: bytes) -> bytes:
    """The same file under another major brand."""
    return content[:8] + major + content[12:]


def _one(type_: MediaType, mode: str = "RGB", size: tuple[int, int] = SIZE, **options: Any) -> Maker:
    """A sample of Pillow's encoder."""

    def make() -> bytes:
        exif = {"exif": phone_exif(options["exif"] or None)} if "exif" in options else {}  # encoders change it
        return encoded(type_, picture(mode), **{**options, **exif})

    return taken(type_, make, size=size, frames=1)


def _moving(type_: MediaType, **options: Any) -> Maker:
    return taken(type_, lambda: animation(type_, **options), size=SIZE, frames=3, duration_ms=240)


def _made(type_: MediaType, make: Content) -> Maker:
    return taken(type_, make, size=SIZE, frames=1)


_RED = picture("P").getpixel((0, 0))

_PNGS: dict[str, dict[str, Any]] = {
    "png-rgb": {}, "png-rgba": {"mode": "RGBA"}, "png-palette": {"mode": "P"}, "png-bilevel": {"mode": "1"},
    "png-grey": {"mode": "L"}, "png-grey-alpha": {"mode": "LA"}, "png-grey-16-bit": {"mode": "I;16"},
    "png-palette-transparent": {"mode": "P", "transparency": _RED}, "png-gps": {"exif": 0},
    "png-turned": {"exif": 6, "size": UPRIGHT},
}  # fmt: skip
_JPEGS: dict[str, dict[str, Any]] = {
    "jpeg-baseline": {}, "jpeg-progressive": {"progressive": True}, "jpeg-grey": {"mode": "L"},
    "jpeg-cmyk": {"mode": "CMYK"}, "jpeg-full-chroma": {"subsampling": 0, "quality": 95, "optimize": True},
    "jpeg-restarts": {"restart_marker_blocks": 1}, "jpeg-comment": {"comment": PLACE},
    "jpeg-gps": {"exif": 0}, "jpeg-turned-upside-down": {"exif": 3},
    "jpeg-turned-right": {"exif": 6, "size": UPRIGHT}, "jpeg-turned-left": {"exif": 8, "size": UPRIGHT},
    "jpeg-mirrored-and-turned": {"exif": 5, "size": UPRIGHT}, "jpeg-xmp": {"xmp": PLACE.encode()},
}  # fmt: skip
_WEBPS: dict[str, dict[str, Any]] = {
    "webp-lossy": {}, "webp-lossless": {"lossless": True}, "webp-alpha": {"mode": "RGBA"},
    "webp-lossless-alpha": {"mode": "RGBA", "lossless": True}, "webp-gps": {"exif": 0},
    "webp-turned": {"exif": 6, "size": UPRIGHT}, "webp-xmp": {"xmp": PLACE.encode()},
}  # fmt: skip
_GIFS: dict[str, dict[str, Any]] = {
    "gif-89a-transparent": {"mode": "P", "transparency": _RED}, "gif-plain": {"mode": "P", "interlace": 0},
    "gif-comment": {"mode": "P", "comment": PLACE.encode()},
}  # fmt: skip
_AVIFS: dict[str, dict[str, Any]] = {
    "avif-lossy": {}, "avif-alpha": {"mode": "RGBA"}, "avif-full-chroma": {"subsampling": "4:4:4", "quality": 100},
    "avif-grey": {"mode": "L"}, "avif-gps": {"exif": 0}, "avif-turned": {"exif": 6, "size": UPRIGHT},
    "avif-xmp": {"xmp": PLACE.encode()},
}  # fmt: skip

MAKERS: dict[str, Maker] = {
    **{name: _one(media.PNG, **options) for name, options in _PNGS.items()},
    **{name: _one(media.JPEG, **options) for name, options in _JPEGS.items()},
    **{name: _one(media.WEBP, **options) for name, options in _WEBPS.items()},
    **{name: _one(media.GIF, **options) for name, options in _GIFS.items()},
    **{name: _one(media.AVIF, speed=10, **options) for name, options in _AVIFS.items()},
    "png-comments": _made(media.PNG, commented_png),
    "png-animated": _moving(media.PNG),
    "jpeg-two-pictures": _made(media.JPEG, lambda: animation(media.JPEG, format="MPO")),
    "jpeg-profile": _one(media.JPEG, icc_profile=color_profile()),
    "webp-animated": _moving(media.WEBP),
    "webp-animated-gps": _moving(media.WEBP, exif=phone_exif()),
    "gif-87a": _made(media.GIF, gif87a),
    "gif-animated": _moving(media.GIF, loop=0),
    "avif-animated": _moving(media.AVIF, speed=10),
    "avif-by-ffmpeg": _made(media.AVIF, avif_by_ffmpeg),
    "avif-brand-mif1": _made(media.AVIF, lambda: of_brand(encoded(media.AVIF, picture()), b"mif1")),
    "avif-brand-miaf": _made(media.AVIF, lambda: of_brand(encoded(media.AVIF, picture()), b"miaf")),
}
