"""A ZIP archive at the end of a file makes it no picture and no film, whatever part of the format it stands in."""

import io
import struct
import zipfile

import pytest

from imagehost import media, stripping
from imagehost.stripping import ForeignBytes
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import odd_files
from tests.imagehost.media_corpus.disguises import archive
from tests.imagehost.media_corpus.pieces import box, jpeg_segment

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
    picture = odd_files.jpeg_with(jpeg_segment(0xE2, b"ICC_PROFILE\x00\x01\x01" + archive()))
    comments = jpeg_segment(0xFE, bytes(60_000)) * 2
    for content in (picture + bytes(70_000), picture[:2] + comments + picture[2:] + bytes(70_000)):
        assert not zipfile.is_zipfile(io.BytesIO(content))
        with pytest.raises(ForeignBytes, match="ZIP"):
            stripping.strip(io.BytesIO(content), media.JPEG)
