"""The strip over files of every type: what a viewer sees stays, and no broken file breaks it."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from imagehost import media
from imagehost.examining import stripping
from imagehost.examining.stripping import ForeignBytes, tails
from imagehost.examining.stripping.rewriting import Source
from imagehost.media import MediaType
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import color_profiles, hdr_photos, odd_files, pieces, real_images, real_videos
from tests.imagehost.media_corpus.disguises import ELF, HTML, PHP, SVG, archive, tarball
from tests.imagehost.media_corpus.odd_files import NOISE
from tests.imagehost.media_corpus.pieces import box, jpeg_segment
from tests.imagehost.media_corpus.sample import PLACE
from tests.imagehost.stripped import (
    SECRET,
    cut_off,
    film,
    mutated,
    pictures,
    refusal,
    stripped,
    survives,
)

_MAKERS = {**real_images.MAKERS, **real_videos.MAKERS}
_ONE_OF_EACH_KIND = (
    "png-animated", "jpeg-turned-right", "jpeg-two-pictures", "jpeg-progressive", "webp-animated-gps", "gif-animated",
    "avif-gps", "mp4-gps", "mp4-fragmented", "webm-gps", "webm-live", *hdr_photos.MAKERS,
)  # fmt: skip
_GIGANTIC = 200 << 20


class WatchedFile(io.FileIO):
    """A file that notes how much is read and written at once."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "r+b")
        self.reads: list[int] = []
        self.written = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.reads.append(len(found))
        return found

    def write(self, content: bytes, /) -> int:  # type: ignore[override]  # bytes are all that is written here
        self.written += len(content)
        return super().write(content)


@pytest.mark.parametrize("name", _MAKERS)
def test_a_viewer_sees_the_same_before_and_after(name: str) -> None:
    sample = _MAKERS[name]()
    media_type = media.BY_MIME[sample.mime or ""]
    seen = film if media_type.is_video else pictures
    after = stripped(sample.content, media_type)
    if name == "jpeg-two-pictures":  # the second one goes
        assert seen(after) == seen(sample.content) | {"frames": seen(sample.content)["frames"][:1]}
    elif name != "avif-brand-miaf":  # a brand that Pillow does not open, before or after
        assert seen(after) == seen(sample.content)
    assert PLACE.encode() not in after
    assert b"Camera Maker" not in after
    assert stripped(after, media_type) == after


@pytest.mark.parametrize("name", _ONE_OF_EACH_KIND)
def test_a_file_that_is_cut_off_or_changed_anywhere_is_taken_or_refused(name: str) -> None:
    """What is taken is clean at once: a second strip changes nothing."""
    sample = media_corpus.sample(name)
    media_type = media.BY_MIME[sample.mime or ""]
    assert False in {survives(content, media_type) for content in cut_off(sample.content)}
    assert {survives(content, media_type) for content in mutated(sample.content, rounds=200)} == {True, False}


def test_a_png_of_200_mb_is_moved_in_small_pieces(tmp_path: Path) -> None:
    path = tmp_path / "gigantic.png"
    with path.open("wb") as file:
        file.write(pieces.png_header(4, 4) + pieces.png_chunk(b"tEXt", SECRET))
        file.write(_GIGANTIC.to_bytes(4, "big") + b"IDAT")
        file.seek(_GIGANTIC + 4, io.SEEK_CUR)
        file.write(pieces.png_chunk(b"IEND"))
    size = path.stat().st_size
    with WatchedFile(path) as watched:
        stripping.strip(watched, media.PNG)
    assert path.stat().st_size == size - len(pieces.png_chunk(b"tEXt", SECRET))
    assert max(watched.reads) <= 1 << 20
    with path.open("rb") as file:
        assert SECRET not in file.read(100_000)
        file.seek(-12, io.SEEK_END)
        assert file.read() == pieces.png_chunk(b"IEND")


def test_a_clean_video_of_200_mb_is_neither_read_nor_written(tmp_path: Path) -> None:
    path = tmp_path / "gigantic.mp4"
    clean = stripped(real_videos.recorded(real_videos.MP4), media.MP4)
    sizes = clean.index(b"stsz") + 16 + 4 * 9  # the last sample of ten reaches to the end
    clean = clean[:sizes] + _GIGANTIC.to_bytes(4, "big") + clean[sizes + 4 :]
    start, end = pieces.box_of(clean, b"moov")
    with path.open("wb") as file:
        file.write(clean[:start] + _GIGANTIC.to_bytes(4, "big") + b"mdat")
        file.seek(_GIGANTIC - 8, io.SEEK_CUR)
        file.write(clean[start:end])
    with WatchedFile(path) as watched:
        stripping.strip(watched, media.MP4)
    assert watched.written == 0
    assert max(watched.reads) <= 1 << 20
    assert sum(watched.reads) < 1 << 20


@pytest.mark.parametrize(
    ("media_type", "start", "repeated"),
    [
        (media.JPEG, b"\xff\xd8", b"\xff\xda\x00\x02"),
        (media.JPEG, b"\xff\xd8", b"\xff\x00" * 32),
        (media.PNG, pieces.png_header(4, 4), pieces.png_chunk(b"IDAT")),
        (media.WEBP, b"RIFF\xf0\xff\xff\x0fWEBP", b"VP8 \x00\x00\x00\x00"),
        (media.GIF, b"GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02", b"\x01\x00" * 8),
        (media.GIF, b"GIF89a\x01\x00\x01\x00\x00\x00\x00", b"\x21\xf9\x04\x00\x00\x00\x00\x00"),
    ],
)
def test_a_file_of_nothing_but_parts_is_given_up_early(media_type: MediaType, start: bytes, repeated: bytes) -> None:
    """Each limit of parts is passed in 5 MB."""
    assert not survives(start + repeated * ((5 << 20) // len(repeated)), media_type)


@pytest.mark.parametrize(("name", "part"), [("mp4-h264", pieces.box(b"free")), ("webm-live", b"\xec\x80")])
def test_a_film_of_too_many_parts_is_refused_and_not_cut_off(name: str, part: bytes) -> None:
    sample = _MAKERS[name]()
    content = sample.content + part * 1_001_000
    assert refusal(content, media.BY_MIME[sample.mime or ""]) is stripping.TooManyParts


# --- Bytes after the end of a file: noise is cut off, another file or a ZIP archive is refused. ---

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
    profile = color_profiles.with_tags({b"A2B1": archive()})
    picture = odd_files.jpeg_with(jpeg_segment(0xE2, b"ICC_PROFILE\x00\x01\x01" + profile))
    comments = jpeg_segment(0xFE, bytes(60_000)) * 2
    for content in (picture + bytes(70_000), picture[:2] + comments + picture[2:] + bytes(70_000)):
        assert not zipfile.is_zipfile(io.BytesIO(content))
        with pytest.raises(ForeignBytes, match="ZIP"):
            stripping.strip(io.BytesIO(content), media.JPEG)
