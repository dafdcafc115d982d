"""A file's own URL: who gets it, with which headers, in which parts, and by which way."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from imagehost import delivery, media
from imagehost.delivery import Unsatisfiable
from imagehost.models import File, State
from tests.factories.imagehost import FileFactory
from tests.imagehost import uploading
from tests.imagehost.public_pages import silent_store
from tests.imagehost.uploading import Delivered, png
from tests.lookup import statements

pytestmark = pytest.mark.django_db
MOMENT = datetime(2026, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC)
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Sec-Fetch-Dest",
}
PAGE_POLICY = (
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox allow-same-origin"
)
FOR_EVER = "public, max-age=31536000, immutable"


def stored(bucket_directory: Path, content: bytes | None = None, **columns: Any) -> File:
    """A file with its object."""
    content = png() if content is None else content
    file: File = FileFactory(size=len(content), uploaded_at=MOMENT, **columns)
    place = bucket_directory / file.key
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    return file


def get(file: File, method: str = "GET", query: str = "", headers: dict[str, str] | None = None) -> Delivered:
    return uploading.get(f"/media/{file.file_name}{query}", method, headers)


def described(file: File) -> dict[str, str]:
    """The headers of an answer with the whole of a file."""
    return {
        **ALWAYS,
        "Content-Type": file.mime,
        "Content-Length": str(file.size),
        "Content-Disposition": f"inline; filename=\"{file.original_name}\"; filename*=UTF-8''{file.original_name}",
        "ETag": f'"{file.pk.hex}"',
        "Last-Modified": "Fri, 01 May 2026 12:00:00 GMT",
        "Accept-Ranges": "bytes",
        "Cache-Control": FOR_EVER,
    }


def test_a_file_that_is_opened_as_a_page_may_show_itself(bucket_directory: Path) -> None:
    """The document that a browser makes around a film loads the film again, under the film's own policy."""
    file, policy = stored(bucket_directory), ALWAYS["Content-Security-Policy"]
    for destination, expected in (("document", PAGE_POLICY), ("iframe", policy), ("", policy)):
        answer = get(file, headers={"Sec-Fetch-Dest": destination})
        assert answer.headers["Content-Security-Policy"] == expected, destination


@pytest.mark.parametrize("type_", [media.JPEG, media.AVIF, media.MOV], ids=lambda type_: type_.extension)
def test_a_file_is_served_as_what_it_is(type_: media.MediaType, bucket_directory: Path) -> None:
    file = stored(bucket_directory, media=type_)
    for method, content in (("GET", png()), ("HEAD", b"")):
        response = get(file, method)
        assert (response.status, response.content, response.headers) == (200, content, described(file))


def test_the_name_that_it_came_with_is_offered_for_saving(bucket_directory: Path) -> None:
    file = stored(bucket_directory, original_name='Ä "b"\r\nX-Evil: 1.png')
    disposition = get(file).headers["Content-Disposition"]
    assert disposition.startswith('inline; filename="')
    assert "filename*=UTF-8''%C3%84%20" in disposition
    assert disposition.isascii()
    assert get(file, query="?download=1").headers["Content-Disposition"].startswith('attachment; filename="')
    for query in ("?download=", "?download=0", "?xdownload=1", "?a=b"):
        assert get(file, query=query).headers["Content-Disposition"] == disposition


def test_how_long_it_may_be_kept_is_a_setting(settings: Settings, bucket_directory: Path) -> None:
    file = stored(bucket_directory)
    for seconds, value in ((31_536_000, "31536000, immutable"), (86_400, "86400, immutable"), (3600, "3600")):
        settings.IMAGE_CACHE_SECONDS = seconds
        assert get(file).headers["Cache-Control"] == f"public, max-age={value}"


NOT_THERE = {
    **ALWAYS,
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": "23",
    "Cache-Control": "no-store",
}


def _is_not_there(path: str) -> bool:
    response = uploading.get(path)
    assert (response.status, response.content) == (404, b"There is no such file.\n")
    assert response.headers == NOT_THERE
    return True


def test_another_name_or_extension_is_404(bucket_directory: Path) -> None:
    stored(bucket_directory, name="AbCdEfGh")
    names = ["abcdEFGH.png", "AbCdEfGh.jpg", "AbCdEfGh.PNG", "AbCdEfGh", "AbCdEfGh.png.png", "AbCdEfG%C4%B1.png"]
    for name in (*names, "..", "AbCdEfGh.png%0A", "AbCdEfGh.%70ng%00"):
        assert _is_not_there(f"/media/{name}"), name


@pytest.mark.parametrize(
    "columns",
    [
        {"state": State.PENDING},
        {"state": State.DELETED},
        {"state": State.DELETED, "owner": None},
    ],
)
def test_what_is_not_delivered_is_404_and_a_banned_owners_direct_urls_stay(
    columns: dict[str, Any], bucket_directory: Path
) -> None:
    file = stored(bucket_directory, **columns)
    assert _is_not_there(f"/media/{file.file_name}")
    assert _is_not_there(f"/media/{FileFactory().file_name}")  # without its object
    assert get(stored(bucket_directory, owner__is_active=False)).status == 200


def test_a_store_that_fails_is_503_before_anything_is_sent(bucket_directory: Path) -> None:
    file = stored(bucket_directory)
    (bucket_directory / file.key).write_bytes(b"shorter")
    response = get(file)
    assert (response.status, response.content) == (503, b"The file cannot be read at the moment.\n")
    assert response.headers["Retry-After"] == "5"
    assert response.headers["Cache-Control"] == "no-store"
    assert ALWAYS.items() <= response.headers.items()


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "BREW"])
def test_another_method_is_405(method: str, bucket_directory: Path) -> None:
    response = get(stored(bucket_directory), method)
    assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD")
    assert ALWAYS.items() <= response.headers.items()
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.embedded
@pytest.mark.parametrize(("method", "headers"), [("GET", {}), ("GET", {"Range": "bytes=0-9"})])
def test_an_answer_costs_one_statement(method: str, headers: dict[str, str], bucket_directory: Path) -> None:
    file = stored(bucket_directory)
    assert statements.names(lambda: get(file, method, headers=headers)) == ["SELECT imagehost_file"]


def test_nginx_gets_the_place_of_the_object(settings: Settings, bucket_directory: Path) -> None:
    settings.FILE_DELIVERY, settings.ACCEL_PREFIX = "accel", "/protected/"
    file = stored(bucket_directory)
    expected = {name: described(file)[name] for name in ("Content-Type", "Content-Disposition", "Cache-Control")}
    for method in ("GET", "HEAD"):
        for header in ({}, {"Range": "bytes=0-1"}, {"If-None-Match": "*"}, {"If-Match": '"of-nginx"'}):
            response = get(file, method, headers=header)
            assert (response.status, response.content) == (200, b"")
            assert response.headers == {
                **ALWAYS,
                **expected,
                "X-Accel-Redirect": f"/protected/{file.key}",
                "Content-Length": "0",
            }
    assert _is_not_there("/media/AbCdEfGh.png")


def test_without_links_a_redirect_is_no_redirect(settings: Settings, bucket_directory: Path) -> None:
    settings.FILE_DELIVERY = "redirect"
    file = stored(bucket_directory)
    response = get(file)
    assert (response.status, response.content, response.headers) == (200, png(), described(file))


@pytest.mark.parametrize("public_url", ["https://bucket.example.net/all", ""])
def test_a_redirect_leads_to_the_bucket(public_url: str, settings: Settings) -> None:
    """No request reaches the store: links are made here."""
    silent_store(settings, public_url)
    settings.FILE_DELIVERY = "redirect"
    file = FileFactory()
    response = get(file)
    assert response.status == 302
    assert response.headers["Cache-Control"] == "private, max-age=300"
    assert ALWAYS.items() <= response.headers.items()
    location = response.headers["Location"]
    if public_url:
        assert location == f"{public_url}/{file.key}"
    else:
        assert location.startswith(f"http://127.0.0.1:1/files/{file.key}?")
        assert "X-Amz-Expires=3600" in location
    head = get(file, "HEAD")
    assert (head.status, head.content, head.headers["Content-Length"]) == (200, b"", str(file.size))


CONTENT = bytes(range(256)) * 4
SIZE = len(CONTENT)
DATE = "Fri, 01 May 2026 12:00:00 GMT"
EARLIER, LATER = "Fri, 01 May 2026 11:59:59 GMT", "Fri, 01 May 2026 12:00:01 GMT"

PARTS: dict[str, range | None] = {
    "bytes=0-0": range(1),
    "bytes=0-": range(SIZE),
    "bytes=0-1023": range(SIZE),
    "bytes=0-99999999999999999999": range(SIZE),
    "bytes=1023-1023": range(1023, SIZE),
    "bytes=10-19": range(10, 20),
    "bytes=-1": range(1023, SIZE),
    "bytes=-1024": range(SIZE),
    "Bytes=10-19": range(10, 20),
    "bytes= 10-19 ": range(10, 20),
    "bytes=10-19,": range(10, 20),
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
    return stored(bucket_directory, CONTENT, media=media.MP4)


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
    start, length = (part.start, len(part)) if part else (0, SIZE)
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
        **ALWAYS,
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
