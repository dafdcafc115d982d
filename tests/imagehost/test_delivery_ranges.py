"""Parts of a file, and answers to those who have it already."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from imagehost import delivery, media
from imagehost.delivery import Part, Unsatisfiable
from imagehost.models import File
from tests.factories.imagehost import FileFactory
from tests.imagehost import uploading
from tests.imagehost.uploading import Delivered

CONTENT = bytes(range(256)) * 4
SIZE = len(CONTENT)
MOMENT = datetime(2026, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC)
DATE = "Fri, 01 May 2026 12:00:00 GMT"
EARLIER, LATER = "Fri, 01 May 2026 11:59:59 GMT", "Fri, 01 May 2026 12:00:01 GMT"

PARTS: dict[str, Part | None] = {
    "bytes=0-0": Part(0, 1),
    "bytes=0-": Part(0, SIZE),
    "bytes=0-1023": Part(0, SIZE),
    "bytes=0-99999999999999999999": Part(0, SIZE),
    "bytes=1023-1023": Part(1023, 1),
    "bytes=10-19": Part(10, 10),
    "bytes=-1": Part(1023, 1),
    "bytes=-1024": Part(0, SIZE),
    "Bytes=10-19": Part(10, 10),
    "bytes= 10-19 ": Part(10, 10),
    "bytes=10-19,": Part(10, 10),
    # The whole: several, another unit, nonsense.
    "bytes=0-1,5-6": None,
    "bytes=0-1,-1": None,
    "bytes=19-10": None,
    "bytes=5000-4000": None,
    "bytes=": None,
    "bytes": None,
    "": None,
    "bytes=a-b": None,
    "bytes=+1-2": None,
    "bytes=1 - 2": None,
    "bytes=१-२": None,
    f"bytes={'9' * 5000}-": None,
    "items=0-1": None,
    "bytes:0-1": None,
}
UNSATISFIABLE = ["bytes=1024-", "bytes=1024-1025", "bytes=99999999999999999999-", "bytes=-0", "bytes=-00"]


@pytest.mark.parametrize("header", PARTS, ids=lambda header: header[:30] or "empty")
def test_the_rules_of_a_range(header: str) -> None:
    assert delivery.part_of(header, SIZE) == PARTS[header]


@pytest.mark.parametrize("header", UNSATISFIABLE)
def test_a_range_beyond_the_end_cannot_be_satisfied(header: str) -> None:
    with pytest.raises(Unsatisfiable):
        delivery.part_of(header, SIZE)


@pytest.fixture
def file(db: None, bucket_directory: Path) -> File:
    file: File = FileFactory(size=SIZE, uploaded_at=MOMENT, media=media.MP4)
    place = bucket_directory / file.key
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT)
    return file


def _ask(file: File, method: str = "GET", **headers: str) -> Delivered:
    """Names of headers have underscores; `{etag}` in a value is the file's."""
    named = {name.replace("_", "-"): value.format(etag=_etag(file)) for name, value in headers.items()}
    return uploading.get(f"/media/{file.file_name}", method, named)


def _etag(file: File) -> str:
    return f'"{file.pk.hex}"'


@pytest.mark.parametrize("header", ["bytes=10-19", "bytes=-1", "bytes=0-1,5-6"])
def test_a_part_is_answered_206_and_anything_else_with_the_whole(file: File, header: str) -> None:
    part = PARTS[header]
    response = _ask(file, Range=header)
    start, length = (part.start, part.length) if part else (0, SIZE)
    assert response.status == (206 if part else 200)
    assert response.content == CONTENT[start : start + length]
    assert response.headers["Content-Length"] == str(length)
    assert response.headers["Content-Type"] == "video/mp4"
    assert response.headers["Accept-Ranges"] == "bytes"
    assert response.headers["ETag"] == _etag(file)
    assert response.headers.get("Content-Range") == (f"bytes {start}-{start + length - 1}/{SIZE}" if part else None)


def test_a_range_beyond_the_end_is_416_without_a_body(file: File) -> None:
    response = _ask(file, Range=f"bytes={SIZE}-")
    assert (response.status, response.content) == (416, b"")
    assert response.headers == {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Referrer-Policy": "no-referrer",
        "Vary": "Sec-Fetch-Dest",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": "0",
        "Content-Range": f"bytes */{SIZE}",
        "Cache-Control": "no-store",
    }


def test_head_has_no_ranges(file: File) -> None:
    """RFC 9110 §14.2: a range of another method than GET is ignored."""
    for header in ("bytes=0-9", "bytes=5000-"):
        response = _ask(file, "HEAD", Range=header)
        assert (response.status, response.content) == (200, b"")
        assert response.headers["Content-Length"] == str(SIZE)
        assert "Content-Range" not in response.headers


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        *(("{etag}", 206), (DATE, 206), ("", 206)),
        *(("W/{etag}", 200), ('"other"', 200), (EARLIER, 200), (LATER, 200), ("yesterday", 200)),
    ],
)
def test_a_range_of_another_version_is_answered_with_the_whole(file: File, condition: str, status: int) -> None:
    response = _ask(file, Range="bytes=10-19", If_Range=condition)
    assert (response.status, response.content) == (status, CONTENT[10:20] if status == 206 else CONTENT)
    beyond = _ask(file, Range="bytes=5000-", If_Range=condition)
    assert beyond.status == (416 if status == 206 else 200)
    assert beyond.content == (b"" if status == 206 else CONTENT)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If_None_Match": '"other", {etag}'}, 304),
        ({"If_None_Match": '"other"', "If_Modified_Since": LATER}, 200),  # the date counts where there is no ETag
        ({"If_Modified_Since": DATE}, 304),
        ({"If_Modified_Since": EARLIER}, 200),
        ({"If_None_Match": "{etag}", "Range": "bytes=0-9"}, 304),
        ({"If_Match": "{etag}"}, 200),
        ({"If_Match": '"other"'}, 412),
        ({"If_Unmodified_Since": EARLIER}, 412),
    ],
)
def test_conditions(file: File, headers: dict[str, str], status: int) -> None:
    response = _ask(file, **headers)
    assert response.status == status
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    if status == 304:
        assert response.content == b""
        assert response.headers["ETag"] == _etag(file)
        assert response.headers["Last-Modified"] == DATE
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert not {"Content-Length", "Content-Type", "Content-Range"} & set(response.headers)
    elif status == 412:
        assert response.headers["Cache-Control"] == "no-store"
        assert "ETag" not in response.headers
    else:
        assert response.content == CONTENT
