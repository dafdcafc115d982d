"""Answers with the bytes of a file, for the image host and for the uploads of profiles.

They handle Range and conditional requests (RFC 9110 §13, §14) and set every header, as no middleware does.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, parse_http_date_safe
from prometheus_client import Counter

from accounts import api_view
from imagehost.examining.probing import InvalidMedia, ProberFailed
from imagehost.storing.storage import ObjectMissing, StorageFailed
from infrastructure import metrics
from infrastructure.requests import content_security

POLICY = "default-src 'none'; sandbox"
# A browser that opens a file in a tab makes a small document around it, to which the policy applies: that document may
# load the file and set its layout. It stays a sandbox without scripts.
PAGE_POLICY = (
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox allow-same-origin"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Vary": "Sec-Fetch-Dest",
    "Cross-Origin-Resource-Policy": "cross-origin",  # other sites embed pictures
}
_ONE_RANGE = re.compile(r"(?P<first>[0-9]{1,30})-(?P<last>[0-9]{0,30})|-(?P<suffix>[0-9]{1,30})", re.ASCII)

DELIVERED = Counter("hearth_delivered_bytes", "Bytes of files that the service sent itself, not nginx or the bucket.")

AnyResponse = HttpResponse | StreamingHttpResponse

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Content:
    """A file to deliver. `etag` with its quotes; `changed_at` in UNIX seconds; `disposition`, `caching`: header values.

    `read(start, length)` returns the bytes; it raises ObjectMissing and StorageFailed.
    """

    etag: str
    changed_at: int
    size: int
    mime: str
    disposition: str
    caching: str
    read: Callable[[int, int], Iterator[bytes]]


def answer(
    request: HttpRequest, produce: Callable[[], AnyResponse], *, headers: Mapping[str, str] = HEADERS
) -> AnyResponse:
    """Return the response of `produce` to GET and HEAD, with the headers of every delivered file.

    404 where `produce` misses the object, 503 while the store or the prober does not answer.
    """
    response: AnyResponse
    if request.method not in {"GET", "HEAD"}:
        response = plain(405, "Only GET and HEAD are allowed here.")
        response.headers["Allow"] = "GET, HEAD"
    else:
        try:
            response = produce()
        except ObjectMissing:
            logger.error("The object of %s is missing.", request.path)
            response = not_found()
        except (StorageFailed, InvalidMedia, ProberFailed) as error:
            logger.error("%s cannot be read: %s.", request.path, error)
            response = plain(503, "The file cannot be read at the moment.")
            response.headers["Retry-After"] = "5"
    is_page = request.META.get("HTTP_SEC_FETCH_DEST") == "document"
    response.headers[content_security.HEADER] = PAGE_POLICY if is_page else POLICY
    for name, value in headers.items():
        response.headers[name] = value
    api_view.finished(request, cast("HttpResponse", response))
    if response.status_code == 304:
        del response.headers["Content-Length"]  # it would be that of the file (RFC 9110 §8.6)
    return response


def content(request: HttpRequest, wanted: Content) -> AnyResponse:
    """Answer with the file or the requested part; 304, 412 and 416 as the request's conditions and range demand."""
    response: AnyResponse | None = get_conditional_response(request, wanted.etag, wanted.changed_at)
    try:
        response = response or _body(request, wanted, _wanted_part(request, wanted))
    except Unsatisfiable:
        response = plain(416, "")
        response.headers["Content-Range"] = f"bytes */{wanted.size}"
        return response
    if response.status_code == 412:
        return plain(412, "The file is not the one that you have.")
    response.headers["ETag"] = wanted.etag
    response.headers["Last-Modified"] = http_date(wanted.changed_at)
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Cache-Control"] = wanted.caching
    return response


def not_found() -> HttpResponse:
    return plain(404, "There is no such file.")


def taken_down(reason: str) -> HttpResponse:
    """Return 451 with the kind of reason (RFC 7725)."""
    response = plain(451, f"This file was taken down. Reason: {reason}.")
    response.headers["Link"] = blocked_by()
    return response


def blocked_by() -> str:
    """Return the header Link of a 451: who blocks it (RFC 7725 §4)."""
    return f'<{settings.BASE_URL}>; rel="blocked-by"'


def plain(status: int, text: str) -> HttpResponse:
    response = HttpResponse(f"{text}\n" if text else "", status=status, content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response


def _wanted_part(request: HttpRequest, wanted: Content) -> range | None:
    """Return the requested part; None for the whole file, also for If-Range with another version (§13.1.5)."""
    header = request.META.get("HTTP_RANGE")
    if header is None or request.method != "GET":  # only GET has ranges (§14.2)
        return None
    condition = request.META.get("HTTP_IF_RANGE", "").strip()
    if condition and condition != wanted.etag and parse_http_date_safe(condition) != wanted.changed_at:
        return None
    return part_of(header, wanted.size)


class Unsatisfiable(ValueError):
    """The requested range holds no byte of the file."""


def part_of(header: str, size: int) -> range | None:
    """Return the bytes that a Range header asks for, of a file of `size` bytes. Raises Unsatisfiable for 416.

    None, the whole file, is for another unit, a syntax error, and several ranges, which a server may ignore (§14.2).
    """
    unit, is_range, ranges = header.partition("=")
    asked = [item for item in map(str.strip, ranges.split(",")) if item]
    if not is_range or unit.strip().lower() != "bytes" or len(asked) != 1:
        return None
    found = _ONE_RANGE.fullmatch(asked[0])
    if found is None:
        return None
    if found["suffix"] is not None:
        length = min(int(found["suffix"]), size)
        start, end = size - length, size
    else:
        start = int(found["first"])
        end = min(int(found["last"]) + 1, size) if found["last"] else size
        if found["last"] and int(found["last"]) < start:
            return None
    if start >= end:
        raise Unsatisfiable
    return range(start, end)


class _Counted(Iterator[bytes]):
    """The pieces of a file, counted as they are sent. A class, as `contract.Pieces`: it can be closed unread."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def __next__(self) -> bytes:
        piece = next(self._pieces)
        DELIVERED.inc(len(piece))
        return piece

    def close(self) -> None:
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()


def _body(request: HttpRequest, wanted: Content, part: range | None) -> AnyResponse:
    start, length = (part.start, len(part)) if part else (0, wanted.size)
    if request.method == "HEAD":
        response: AnyResponse = HttpResponse()
    else:
        pieces = wanted.read(start, length)
        response = StreamingHttpResponse(_Counted(pieces) if metrics.is_on() else pieces, status=206 if part else 200)
    response.headers["Content-Type"] = wanted.mime
    response.headers["Content-Disposition"] = wanted.disposition
    response.headers["Content-Length"] = str(length)
    if part:
        response.headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{wanted.size}"
    return response
