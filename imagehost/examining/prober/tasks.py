"""The work of a child: probe, examine or render its file."""

import importlib
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
from imagehost.examining.prober import confinement, endings, fonts, images, sniff, sounds, videos, wire
from imagehost.examining.prober.errors import BROKEN, Refused
from imagehost.examining.stripping import tails

_ENCODINGS: dict[str, dict[str, Any]] = {  # options of Pillow's encoders
    "WEBP": {"quality": 80, "method": 2, "exif": b"", "xmp": b""},
    "PNG": {"compress_level": 3},
}
_NO_DECODERS = {"av.__main__", "av.datasets"}


def warm_up() -> None:
    """Load modules in the zygote: children cannot open files."""
    warnings.simplefilter("ignore")  # decoders' warnings about untrusted files would fill the log
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    Image.init()
    for module in pkgutil.walk_packages(av.__path__, "av."):  # PyAV imports some with the first stream of a kind
        if module.name not in _NO_DECODERS:
            importlib.import_module(module.name)
    sniff.of_head(b"GIF89a")
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
            if request["task"] == "probe":
                with os.fdopen(file, "r+b") as probed:
                    answer = _probe(probed)
            elif request["task"] in _EXAMINED:
                with os.fdopen(file, "rb") as examined:
                    answer = _EXAMINED[request["task"]](examined)
            else:
                with os.fdopen(file, "rb") as rendered:
                    answer, content = _render(rendered, request)
        except Refused as refusal:
            answer = {"invalid": str(refusal)[:1000]}
        conversation.sendall(wire.line(answer) + content)


def _probe(file: BinaryIO) -> wire.Message:
    type_ = sniff.of_head(file.read(media.HEAD_LENGTH))
    if type_.is_video:
        confinement.keep_to_video_memory()
    try:
        stripping.strip(file, type_)
        endings.blank(file, type_)
    except stripping.Refusal as error:
        raise Refused(f"{type_.mime}: {error}") from error
    file.flush()
    with _broken_is_refused(type_.mime):
        return asdict(videos.facts(file, type_) if type_.is_video else images.facts(file, type_))


def _examine_sound(file: BinaryIO) -> wire.Message:
    confinement.keep_to_video_memory()
    with _broken_is_refused("sound"):
        tails.refuse_archive(file)
        file.seek(0)
        return asdict(sounds.facts(file, file.read(media.HEAD_LENGTH)))


def _examine_font(file: BinaryIO) -> wire.Message:
    with _broken_is_refused("font"):
        tails.refuse_archive(file)
        file.seek(0)
        return asdict(fonts.facts(file.read()))


_EXAMINED = {"sound": _examine_sound, "font": _examine_font}


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
