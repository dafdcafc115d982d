"""The work of a child: probe, examine or render its file."""

import importlib
import importlib.util
import io
import os
import pkgutil
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, BinaryIO

import av
from PIL import Image, ImageFile

from imagehost import media
from imagehost.examining import stripping
from imagehost.examining.prober import confinement, endings, images, sounds_and_fonts, videos, wire
from imagehost.examining.prober.errors import BROKEN, Refused
from imagehost.examining.stripping import tails
from imagehost.media import FileFacts, MediaType

if importlib.util.find_spec("pylibmagic") is not None:
    import pylibmagic  # noqa: F401  # makes `magic` use the libmagic of this wheel instead of the system's

import magic

_ENCODINGS: dict[str, dict[str, Any]] = {  # options of Pillow's encoders
    "WEBP": {"quality": 80, "method": 2, "exif": b"", "xmp": b""},
    "PNG": {"compress_level": 3},
}
_NO_DECODERS = {"av.__main__", "av.datasets"}
_CLEARLY_OTHER = frozenset(
    """image/svg+xml image/heic image/heic-sequence audio/x-m4a application/zip application/gzip application/pdf
    application/x-rar application/x-7z-compressed application/java-archive application/x-executable
    application/x-pie-executable application/x-sharedlib application/x-mach-binary application/x-dosexec
    application/vnd.microsoft.portable-executable application/x-shockwave-flash application/x-php
    application/javascript application/json application/x-mpegurl application/vnd.apple.mpegurl application/postscript
    application/x-shellscript application/x-tar""".split()
)
"""Types that refuse a file with one of our signatures. Other contradictions are known mistakes of libmagic: AVIF as
image/heif, M4V and MSNV as audio/mp4, newer brands as application/octet-stream."""

_magic = magic.Magic(mime=True)


def warm_up() -> None:
    """Load modules in the zygote: children cannot open files."""
    warnings.simplefilter("ignore")  # decoders' warnings about untrusted files would fill the log
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    Image.init()
    for module in pkgutil.walk_packages(av.__path__, "av."):  # PyAV imports some with the first stream of a kind
        if module.name not in _NO_DECODERS:
            importlib.import_module(module.name)
    _type_of(b"GIF89a")
    encoded = io.BytesIO()
    for format_ in ("PNG", "JPEG", "WEBP", "GIF"):
        encoded.seek(0)
        Image.new("RGB", (8, 8)).save(encoded, format_)


def serve(file: int, conversation: socket.socket) -> None:
    """Read the request from the conversation, apply it to the file of the descriptor, and answer."""
    with conversation, conversation.makefile("rb") as asked:
        conversation.sendall(wire.STARTED)
        request = wire.message(asked.readline(wire.MAX_LINE))
        content = b""
        try:
            with os.fdopen(file, "r+b" if request["task"] == "probe" else "rb") as opened:
                if request["task"] == "render":
                    answer, content = _render(opened, request)
                else:
                    answer = asdict(_EXAMINED[request["task"]](opened))
        except Refused as refusal:
            answer = {"invalid": str(refusal)[:1000]}
        conversation.sendall(wire.line(answer) + content)


def _type_of(head: bytes) -> MediaType:
    """Return the claimed type by the first `media.HEAD_LENGTH` bytes; libmagic may veto it. Raises Refused."""
    first = _magic.from_buffer(head)
    found = media.of_signature(head)
    if found is None:
        raise Refused(f"no signature of an allowed type (libmagic: {first})")
    if first.startswith("text/") or first in _CLEARLY_OTHER:
        raise Refused(f"looks like {found.mime}, but libmagic knows it as {first}")
    return found


def _probe(file: BinaryIO) -> FileFacts:
    type_ = _type_of(file.read(media.HEAD_LENGTH))
    if type_.is_video:
        confinement.keep_to_video_memory()
    try:
        stripping.strip(file, type_)
        endings.blank(file, type_)
    except stripping.Refusal as error:
        raise Refused(f"{type_.mime}: {error}") from error
    file.flush()
    with _broken_is_refused(type_.mime):
        return videos.facts(file, type_) if type_.is_video else images.facts(file, type_)


def _sound(file: BinaryIO) -> FileFacts:
    confinement.keep_to_video_memory()
    with _broken_is_refused("sound"):
        tails.refuse_archive(file)
        file.seek(0)
        return sounds_and_fonts.sound(file, file.read(media.HEAD_LENGTH))


def _font(file: BinaryIO) -> FileFacts:
    with _broken_is_refused("font"):
        tails.refuse_archive(file)
        file.seek(0)
        return sounds_and_fonts.font(file.read())


_EXAMINED = {"probe": _probe, "sound": _sound, "font": _font}


def _render(file: BinaryIO, request: wire.Message) -> tuple[wire.Message, bytes]:
    type_, format_ = media.BY_MIME[request["mime"]], request["as"]
    if type_.is_video:
        confinement.keep_to_video_memory()
    ImageFile.LOAD_TRUNCATED_IMAGES = not request["only_whole"]  # in this child, which renders one file
    with _broken_is_refused(type_.mime):
        draw = videos.poster if type_.is_video else images.thumbnail
        picture = draw(file, type_, request["longest_side"])
        encoded = io.BytesIO()
        picture.save(encoded, format_, icc_profile=None, **_ENCODINGS[format_])
        with Image.open(encoded, formats=[format_]) as written:
            written.load()
            if written.size != picture.size:
                raise Refused(f"the preview came out as {written.size} instead of {picture.size}")
    return {"width": picture.width, "height": picture.height}, encoded.getvalue()


@contextmanager
def _broken_is_refused(what: str) -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        raise Refused(f"{what}: {type(error).__name__}: {error}"[:1000]) from error
