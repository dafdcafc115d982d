"""Formats that are not ours, under the names of ours. All are refused."""

import struct
from collections.abc import Callable
from typing import Any

from PIL import Image

from imagehost import media
from tests.imagehost.media_corpus.pieces import box, ftyp
from tests.imagehost.media_corpus.real_images import encoded, of_brand, picture
from tests.imagehost.media_corpus.real_videos import Recipe, recorded
from tests.imagehost.media_corpus.sample import Maker, refused


def _sound(muxer: str, codec: str) -> Callable[[], bytes]:
    return lambda: recorded(Recipe(muxer, None, sound=codec))


def _recorded_as(muxer: str, **changes: Any) -> Callable[[], bytes]:
    return lambda: recorded(Recipe(muxer, "libx264", tune={"preset": "ultrafast"}, **changes))


def _still(plugin: str) -> Callable[[], bytes]:
    def make() -> bytes:
        drawn: Image.Image = picture()
        return encoded(media.PNG, drawn, format=plugin)

    return make


def _heic() -> bytes:
    """The box that tells an iPhone's photo apart, before a meta box as it has."""
    return ftyp(b"heic", b"mif1", b"heic") + box(b"meta", struct.pack(">I", 0)) + box(b"mdat", bytes(64))


_OTHERS: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "bmp": (_still("BMP"), "x.png", "image/png"),
    "tiff": (_still("TIFF"), "x.jpg", "image/jpeg"),
    "ico": (_still("ICO"), "x.png", "image/png"),
    "jpeg-2000": (_still("JPEG2000"), "x.jpg", "image/jpeg"),
    "heic": (_heic, "x.jpg", "image/jpeg"),
    "heic-of-brand-mif1": (lambda: of_brand(_heic(), b"mif1"), "x.avif", "image/avif"),
    "avif-of-brand-heic": (lambda: of_brand(encoded(media.AVIF, picture()), b"heic"), "x.avif", "image/avif"),
    "3gp": (_recorded_as("3gp"), "x.mp4", "video/mp4"),
    "m4a": (_sound("ipod", "aac"), "x.mp4", "video/mp4"),
    "mkv": (_recorded_as("matroska"), "x.webm", "video/webm"),
    "mpeg-transport-stream": (_recorded_as("mpegts"), "x.mp4", "video/mp4"),
    "avi": (_recorded_as("avi"), "x.mp4", "video/mp4"),
    "flv": (_recorded_as("flv"), "x.mp4", "video/mp4"),
    "sound-only-mp4": (_sound("mp4", "aac"), "x.mp4", "video/mp4"),
    "sound-only-mov": (_sound("mov", "aac"), "x.mov", "video/quicktime"),
    "sound-only-webm": (_sound("webm", "libopus"), "x.webm", "video/webm"),
}


def _other(name: str) -> Maker:
    make, claimed_name, claimed_mime = _OTHERS[name]
    return lambda: refused(name, make(), claimed_name, claimed_mime)


MAKERS: dict[str, Maker] = {name: _other(name) for name in _OTHERS}
