"""Bytes behind a picture's data inside of its container: they are blanked, or refused as another file."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import probing, stripping
from imagehost.examining.prober import endings
from imagehost.media import MediaType
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import hdr_photos, pieces, real_images
from tests.imagehost.media_corpus.disguises import HTML, PHP, archive
from tests.imagehost.stripped import SECRET, cut_off, mutated, pictures, stripped

_FILM = b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + SECRET * 9


@cache
def _noise(format: str, size: tuple[int, int] = (96, 80), **options: object) -> bytes:
    written = io.BytesIO()
    Image.effect_noise(size, 60).convert("RGB").save(written, format, **options)
    return written.getvalue()


def _jpeg_without_an_end(rest: bytes) -> bytes:
    return _noise("JPEG")[:-2] + rest


def _jpeg_before_its_end(rest: bytes) -> bytes:
    return _noise("JPEG")[:-2] + rest + b"\xff\xd9"


def _progressive(rest: bytes) -> bytes:
    return _noise("JPEG", progressive=True)[:-2] + rest + b"\xff\xd9"


def _restarting(rest: bytes) -> bytes:
    return _noise("JPEG", restart_marker_blocks=2)[:-2] + rest


def _png_of(chunks: Callable[[bytes, bytes], bytes]) -> Callable[[bytes], bytes]:
    def made(rest: bytes) -> bytes:
        content = _noise("PNG")
        at = content.index(b"IDAT") - 4
        (length,) = struct.unpack_from(">I", content, at)
        return content[:at] + chunks(content[at + 8 : at + 8 + length], rest)

    return made


def _gain_map(rest: bytes) -> bytes:
    second = hdr_photos.gain_map(hdr_photos.MAP_XMP)
    return hdr_photos.photo([hdr_photos.primary_xmp()], second[:-2] + rest + b"\xff\xd9")


_END = pieces.png_chunk(b"IEND")
_png = _png_of(lambda data, rest: pieces.png_chunk(b"IDAT", data + rest) + _END)
_png_of_chunks = _png_of(
    lambda data, rest: b"".join(pieces.png_chunk(b"IDAT", part) for part in (data[:900], data[900:], rest)) + _END
)
_png_cut_off = _png_of(lambda data, rest: struct.pack(">I", len(data) + 9000) + b"IDAT" + data + rest)


def _png_animated(rest: bytes) -> bytes:
    content = media_corpus.sample("png-animated").content
    at = content.rindex(b"fdAT") - 4
    (length,) = struct.unpack_from(">I", content, at)
    body = content[at + 8 : at + 8 + length]
    return content[:at] + pieces.png_chunk(b"fdAT", body + rest) + content[at + 12 + length :]


def _blocks(rest: bytes) -> bytes:
    return b"".join(bytes([len(rest[at : at + 255])]) + rest[at : at + 255] for at in range(0, len(rest), 255))


def _gif(rest: bytes) -> bytes:
    return _noise("GIF")[:-2] + _blocks(rest) + b"\0;"


def _gif_without_an_end(rest: bytes) -> bytes:
    return _noise("GIF")[:-2] + _blocks(rest)


def _gif_animated(rest: bytes) -> bytes:
    content = media_corpus.sample("gif-animated").content
    second = content.index(b"\0!\xf9\x04", content.index(b"\0!\xf9\x04") + 4)
    return content[:second] + _blocks(rest) + content[second:]


def _webp(rest: bytes, **options: object) -> bytes:
    content = _noise("WEBP", **options)
    (length,) = struct.unpack_from("<I", content, 16)
    return pieces.riff((content[12:16], content[20 : 20 + length] + rest))


def _lossless(rest: bytes) -> bytes:
    return _webp(rest, lossless=True)


_MADE: dict[str, tuple[MediaType, Callable[[bytes], bytes]]] = {
    "a JPEG without an end": (media.JPEG, _jpeg_without_an_end),
    "a JPEG before its end": (media.JPEG, _jpeg_before_its_end),
    "a progressive JPEG": (media.JPEG, _progressive),
    "a JPEG with restarts": (media.JPEG, _restarting),
    "the gain map of an HDR photo": (media.JPEG, _gain_map),
    "a PNG": (media.PNG, _png),
    "a PNG of several chunks": (media.PNG, _png_of_chunks),
    "a PNG that is cut off": (media.PNG, _png_cut_off),
    "an animated PNG": (media.PNG, _png_animated),
    "a GIF": (media.GIF, _gif),
    "a GIF without an end": (media.GIF, _gif_without_an_end),
    "an animated GIF": (media.GIF, _gif_animated),
    "a WebP": (media.WEBP, _webp),
    "a lossless WebP": (media.WEBP, _lossless),
}


_WHOLE: dict[str, Callable[[bytes], bytes]] = {
    "a JPEG without an end": _jpeg_before_its_end,
    "a JPEG with restarts": lambda _: _restarting(b"\xff\xd9"),
}


def _blanked(content: bytes, type_: MediaType) -> bytes:
    file = io.BytesIO(content)
    stripping.strip(file, type_)
    endings.blank(file, type_)
    return file.getvalue()


@pytest.mark.parametrize("name", _MADE)
def test_what_is_behind_the_data_of_a_picture_goes(name: str, tmp_path: Path) -> None:
    type_, made = _MADE[name]
    upload = tmp_path / "upload"
    for rest in (_FILM, SECRET * 40, bytes(70_000) + SECRET, b"\x80" * 30):
        upload.write_bytes(made(rest))
        assert probing.probe(upload).media_type is type_
        after = upload.read_bytes()
        assert SECRET not in after
        assert _FILM[-len(SECRET) * 8 :] not in after
        if not name.startswith("a PNG that is"):
            assert pictures(after)["frames"] == pictures(_WHOLE.get(name, made)(b""))["frames"]
        assert _blanked(after, type_) == after


@pytest.mark.parametrize("name", _MADE)
@pytest.mark.parametrize(
    "rest", [HTML, PHP, b"<script>alert(1)</script>" * 3, archive()], ids=["html", "php", "script", "zip"]
)
def test_another_file_behind_the_data_of_a_picture_is_refused(name: str, rest: bytes, tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    upload.write_bytes(_MADE[name][1](rest))
    with pytest.raises(probing.InvalidMedia, match=r"after the end|ZIP"):
        probing.probe(upload)


@pytest.mark.parametrize("name", real_images.MAKERS)
def test_of_a_sound_picture_not_a_byte_changes(name: str) -> None:
    sample = real_images.MAKERS[name]()
    type_ = media.BY_MIME[sample.mime or ""]
    after = stripped(sample.content, type_)
    assert _blanked(after, type_) == after


@pytest.mark.parametrize("name", ["a JPEG before its end", "an animated PNG", "an animated GIF", "a lossless WebP"])
def test_a_picture_that_is_damaged_or_cut_off_is_taken_or_refused(name: str) -> None:
    type_, made = _MADE[name]
    content = made(SECRET * 3)
    for changed in (*mutated(content, rounds=60), *list(cut_off(content))[:: len(content) // 300]):
        try:
            after = _blanked(changed, type_)
        except stripping.Refusal:
            continue
        assert len(after) <= len(changed)
