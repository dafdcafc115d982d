"""Bytes after the end of a file: noise is cut off, another file or a ZIP archive is refused."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from imagehost import media
from imagehost.examining import stripping
from imagehost.examining.stripping import ForeignBytes, tails
from imagehost.examining.stripping.rewriting import Source
from imagehost.media import MediaType
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import colour_profiles, odd_files, pieces
from tests.imagehost.media_corpus.disguises import ELF, HTML, PHP, SVG, archive, tarball
from tests.imagehost.media_corpus.odd_files import NOISE
from tests.imagehost.media_corpus.pieces import box, jpeg_segment
from tests.imagehost.stripped import SECRET, refusal, stripped

_CLEAN = {
    media.PNG: "png-rgb", media.JPEG: "jpeg-baseline", media.WEBP: "webp-lossy", media.GIF: "gif-animated",
    media.AVIF: "avif-lossy", media.MP4: "mp4-h264", media.MOV: "mov-h264", media.WEBM: "webm-vp8",
}  # fmt: skip
_TYPES = pytest.mark.parametrize("media_type", media.ALL, ids=lambda type_: type_.extension)
_XMP = b'<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta><?xpacket end="w"?>'
_PROGRAM = b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0\x64\x86" + bytes(20)
_MEBIBYTE = 1 << 20

CUT = {
    "nothing": b"", "one byte": b"\x80", "zeros": bytes(70_000), "ones": b"\xff" * 16, "space": b" \t\r\n",
    "a note": b"just a note", "noise": SECRET + NOISE, "metadata": _XMP, "two bytes of a program": b"MZ at the start",
    "a less-than sign": b"<3", "another GIF": b"GIF89a\x01\0\x01\0\0\0\0;", "a second end": pieces.png_chunk(b"IEND"),
    "a text of PNG": pieces.png_chunk(b"tEXt", b"Comment\0" + SECRET), "a picture": b"\0\0\xff\xd8\xff\xe0" + NOISE,
    "half a mark": b"<scrip",
}  # fmt: skip
REFUSED = {
    "zip": b"PK\x03\x04\x14\0\0\0\x08\0", "rar": b"Rar!\x1a\x07\x01\0", "7z": b"7z\xbc\xaf\x27\x1c", "tar": tarball(),
    "gzip": b"\x1f\x8b\x08\0", "bzip2": b"BZh91AY&SY", "html": b"<!doctype html><title>x", "script": b"<ScRiPt>",
    "a short tag": b"<a href=javascript:0>", "svg": SVG, "php": PHP, "xml": b'<?xml version="1.0"?>',
    "shell": b"#!/bin/sh\n", "pdf": b"%PDF-1.7\n", "linux program": ELF, "windows program": b"MZ\x90\0\x03\0\0\0",
    "windows program without a stub": _PROGRAM, "mac program": b"\xcf\xfa\xed\xfe\x07\0\0\1", "wasm": b"\0asm\1\0\0\0",
    "behind padding": bytes(5000) + b"\r\nPK\x03\x04", "markup behind noise": NOISE + HTML,
    "pdf behind noise": NOISE + b"%PDF-1.4", "a zip behind noise": NOISE + archive() + bytes(70_000),
    "across a border of reads": b"\x80" * (_MEBIBYTE - 4) + b"<script>",
    "behind two reads": b"\x80" * (2 * _MEBIBYTE) + b"<html",
}  # fmt: skip


@pytest.mark.parametrize("name", CUT)
def test_what_no_program_opens_passes(name: str) -> None:
    for front in (b"", b"picture"):
        tails.check(Source(io.BytesIO(front + CUT[name])), len(front))


@pytest.mark.parametrize("name", REFUSED)
def test_another_file_is_foreign(name: str) -> None:
    for front in (b"", b"picture"):
        with pytest.raises(stripping.ForeignBytes):
            tails.check(Source(io.BytesIO(front + REFUSED[name])), len(front))


def test_a_mark_in_the_picture_itself_counts_for_nothing() -> None:
    tails.check(Source(io.BytesIO(HTML + b"end")), len(HTML))


@_TYPES
def test_the_tail_of_each_type_is_cut_off_or_refused(media_type: MediaType) -> None:
    clean = stripped(media_corpus.sample(_CLEAN[media_type]).content, media_type)
    for name in ("one byte", "zeros", "ones", "space", "noise", "a note", "another GIF", "metadata", "a picture"):
        assert stripped(clean + CUT[name], media_type) == clean, name
    for name in ("zip", "html", "windows program", "behind padding", "markup behind noise"):
        assert refusal(clean + REFUSED[name], media_type) is stripping.ForeignBytes, name


@pytest.mark.parametrize("name", ["png-cropped-screenshot", "jpg-and-a-film", "jpg-without-end-and-another"])
def test_the_remains_of_another_picture_go(name: str) -> None:
    sample = media_corpus.sample(name)
    type_ = media.BY_MIME[sample.mime or ""]
    alone = media_corpus.sample({"png": "png-rgb", "jpg": "jpeg-baseline"}[type_.extension]).content
    assert stripped(sample.content, type_) == stripped(alone, type_)


FILMS = {media.AVIF: "avif-lossy", media.MP4: "mp4-h264", media.MOV: "mov-h264"}


def commented(comment: bytes) -> bytes:
    content = io.BytesIO(archive())
    with zipfile.ZipFile(content, "a") as file:
        file.comment = comment
    return content.getvalue()


def moved(content: bytes, by: int) -> bytes:
    """Its offsets count from the start of a longer file, as `zip --adjust-sfx` writes them."""
    directory, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    content = content[: end + 16] + struct.pack("<L", directory + by) + content[end + 20 :]
    return content[: directory + 42] + struct.pack("<L", by) + content[directory + 46 :]


def assert_foreign(content: bytes, type_: media.MediaType) -> None:
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == ["index.html"]
    file = io.BytesIO(content)
    with pytest.raises(ForeignBytes, match="ZIP"):
        stripping.strip(file, type_)
    assert file.getvalue() == content


@pytest.mark.parametrize("type_", FILMS)
def test_an_archive_in_a_last_box_is_foreign(type_: media.MediaType) -> None:
    film = media_corpus.sample(FILMS[type_]).content
    for comment in (b"", b"words", b"x" * 0xFFFF):
        assert_foreign(film + box(b"mdat", commented(comment)), type_)
    assert_foreign(film + box(b"mdat", moved(archive(), by=len(film) + 8)), type_)


@pytest.mark.parametrize("rest", [b"", bytes(18), b"\xff" * 18, b"PK\x05\x06" * 9])
def test_bytes_that_only_look_like_a_record_are_none(rest: bytes) -> None:
    content = media_corpus.sample("mp4-h264").content + box(b"mdat", b"PK\x05\x06" + rest)
    stripping.strip(io.BytesIO(content), media.MP4)


def test_an_archive_in_a_part_that_stays_is_foreign_where_what_was_behind_it_goes() -> None:
    """Readers of ZIP look through 64 KiB: a longer tail hides the record until it is cut off."""
    profile = colour_profiles.with_tags({b"A2B1": archive()})
    picture = odd_files.jpeg_with(jpeg_segment(0xE2, b"ICC_PROFILE\x00\x01\x01" + profile))
    comments = jpeg_segment(0xFE, bytes(60_000)) * 2
    for content in (picture + bytes(70_000), picture[:2] + comments + picture[2:] + bytes(70_000)):
        assert not zipfile.is_zipfile(io.BytesIO(content))
        with pytest.raises(ForeignBytes, match="ZIP"):
            stripping.strip(io.BytesIO(content), media.JPEG)
