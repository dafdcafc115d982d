"""The strip over files of every type: what a viewer sees stays, and no broken file breaks it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from imagehost import media
from imagehost.examining import stripping
from imagehost.media import MediaType
from tests.imagehost.media_corpus import pieces, real_images, real_videos
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
    "avif-gps", "mp4-gps", "mp4-fragmented", "webm-gps", "webm-live",
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
    sample = _MAKERS[name]()
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
        (media.MP4, b"", pieces.box(b"moof")),
        (media.WEBM, pieces.ebml_header(b"webm") + b"\x18\x53\x80\x67\x01" + b"\xff" * 7, b"\xec\x80"),
    ],
)
def test_a_file_of_nothing_but_parts_is_given_up_early(media_type: MediaType, start: bytes, repeated: bytes) -> None:
    """Each limit of parts is passed in 5 MB."""
    assert not survives(start + repeated * ((5 << 20) // len(repeated)), media_type)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("mp4-h264", pieces.box(b"free")),
        ("webm-live", b"\xec\x80"),
    ],
)
def test_a_film_of_too_many_parts_is_refused_and_not_cut_off(name: str, part: bytes) -> None:
    sample = _MAKERS[name]()
    content = sample.content + part * 1_100_000
    assert refusal(content, media.BY_MIME[sample.mime or ""]) is stripping.TooManyParts
