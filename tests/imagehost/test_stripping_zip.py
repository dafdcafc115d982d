"""A ZIP archive at the end of a file makes it no picture and no film, whatever part of the format it stands in."""

import io
import struct
import zipfile

import pytest

from imagehost import media, stripping
from imagehost.stripping import ForeignBytes
from tests.imagehost import media_corpus

pytestmark = pytest.mark.once


def archive(comment: bytes = b"") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("x.html", "<script>alert(1)</script>")
        file.comment = comment
    return content.getvalue()


def box(content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), b"mdat") + content


FILMS = {
    sample.mime: sample.content
    for sample in media_corpus.real_files()
    if sample.mime in {"image/avif", "video/mp4", "video/quicktime"}
}


@pytest.mark.parametrize("comment", [b"", b"words", b"x" * 0xFFFF], ids=["plain", "comment", "longest comment"])
@pytest.mark.parametrize("mime", FILMS)
def test_an_archive_in_a_last_box_is_foreign(mime: str, comment: bytes) -> None:
    content = FILMS[mime] + box(archive(comment))
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == ["x.html"]
    file = io.BytesIO(content)
    with pytest.raises(ForeignBytes, match="ZIP"):
        stripping.strip(file, media.BY_MIME[mime])
    assert file.getvalue() == content


@pytest.mark.parametrize("rest", [b"", bytes(18), b"\xff" * 18, b"PK\x05\x06" * 9])
def test_bytes_that_only_look_like_a_record_are_none(rest: bytes) -> None:
    content = FILMS["video/mp4"] + box(b"PK\x05\x06" + rest)
    stripping.strip(io.BytesIO(content), media.MP4)
