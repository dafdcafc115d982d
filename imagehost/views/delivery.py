"""A file's own URL: the file itself, for everybody who knows its name.

Stands outside the middleware of pages: no session, no cookie, and every header is set here.
"""

from __future__ import annotations

import logging
import re
from typing import cast
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, parse_http_date_safe

from accounts import api_view, content_security
from imagehost import ranges, storage
from imagehost.disposition import disposition
from imagehost.models import File
from imagehost.ranges import Part, Unsatisfiable
from imagehost.storage import ObjectMissing, StorageFailed

POLICY = "default-src 'none'; sandbox"
# A browser that opens a file as a page of its own makes a small document around it, to which the policy applies: it may
# load the file itself, and be laid out. Still a sandbox without scripts.
PAGE_POLICY = (
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox allow-same-origin"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Vary": "Sec-Fetch-Dest",
    "Cross-Origin-Resource-Policy": "cross-origin",  # pictures are shown on other people's pages
}
DAY = 86_400  # seconds
LINK_CACHE_SECONDS = 300  # of a redirect; the link behind it is good for an hour
_FILE_NAME = re.compile(r"([A-Za-z0-9]{8})\.([a-z0-9]{3,4})", re.ASCII)

AnyResponse = HttpResponse | StreamingHttpResponse

logger = logging.getLogger(__name__)


def deliver(request: HttpRequest, file_name: str) -> AnyResponse:
    """GET and HEAD. 404 for a name or an extension that no delivered file has, case included. 1 query."""
    if request.method not in {"GET", "HEAD"}:
        response: AnyResponse = _plain(405, "Only GET and HEAD are allowed here.")
        response.headers["Allow"] = "GET, HEAD"
    elif (file := _find(file_name)) is None:
        return not_found(request)
    else:
        response = _answer(request, file)
    return _finished(request, response)


def not_found(request: HttpRequest) -> AnyResponse:
    """For every path that is no file's."""
    return _finished(request, _plain(404, "There is no such file."))


def _finished(request: HttpRequest, response: AnyResponse) -> AnyResponse:
    is_page = request.META.get("HTTP_SEC_FETCH_DEST") == "document"
    response.headers[content_security.HEADER] = PAGE_POLICY if is_page else POLICY
    for name, value in HEADERS.items():
        response.headers[name] = value
    api_view.finished(request, cast("HttpResponse", response))
    if response.status_code == 304:
        del response.headers["Content-Length"]  # it would be that of the file (RFC 9110 §8.6)
    return response


def _find(file_name: str) -> File | None:
    parts = _FILE_NAME.fullmatch(file_name)
    if parts is None:
        return None
    return File.objects.delivered().by_name(parts[1]).filter(extension=parts[2]).first()


def _answer(request: HttpRequest, file: File) -> AnyResponse:
    try:
        if settings.FILE_DELIVERY == "accel":
            return _accelerated(request, file)
        if settings.FILE_DELIVERY == "redirect":
            name, is_attachment = file.download_name, _is_download(request)
            link = storage.bucket().link(file.key, mime=file.mime, download_name=name, is_attachment=is_attachment)
            if link is not None:
                return _redirect(link)
        return _direct(request, file)
    except ObjectMissing:
        logger.exception("The object of the file %s is missing.", file.pk)
        return _plain(404, "There is no such file.")
    except StorageFailed:
        logger.exception("The file %s cannot be read.", file.pk)
        response = _plain(503, "The file cannot be read at the moment.")
        response.headers["Retry-After"] = "5"
        return response


def _direct(request: HttpRequest, file: File) -> AnyResponse:
    etag, changed_at = f'"{file.pk.hex}"', int(file.uploaded_at.timestamp())
    response: AnyResponse | None = get_conditional_response(request, etag, changed_at)
    try:
        response = response or _content(request, file, _part(request, file, etag, changed_at))
    except Unsatisfiable:
        response = _plain(416, "")
        response.headers["Content-Range"] = f"bytes */{file.size}"
        return response
    if response.status_code == 412:
        return _plain(412, "The file is not the one that you have.")
    response.headers["ETag"] = etag
    response.headers["Last-Modified"] = http_date(changed_at)
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Cache-Control"] = _cache_control()
    return response


def _part(request: HttpRequest, file: File, etag: str, changed_at: int) -> Part | None:
    """What of the file is asked for; None: all of it. A range of a version that is no more asks for all (§13.1.5)."""
    header = request.META.get("HTTP_RANGE")
    if header is None or request.method != "GET":  # only GET has ranges (§14.2)
        return None
    condition = request.META.get("HTTP_IF_RANGE", "").strip()
    if condition and condition != etag and parse_http_date_safe(condition) != changed_at:
        return None
    return ranges.part_of(header, file.size)


def _content(request: HttpRequest, file: File, part: Part | None) -> AnyResponse:
    start, length = (part.start, part.length) if part else (0, file.size)
    if request.method == "HEAD":
        response: AnyResponse = HttpResponse()
    else:
        response = StreamingHttpResponse(storage.bucket().read(file.key, start, length), status=206 if part else 200)
    _describe(request, response, file)
    response.headers["Content-Length"] = str(length)
    if part:
        response.headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{file.size}"
    return response


def _accelerated(request: HttpRequest, file: File) -> HttpResponse:
    """nginx sends the content, knows its date and its ranges, and adds the headers of HEADERS again."""
    response = HttpResponse()
    _describe(request, response, file)
    response.headers["X-Accel-Redirect"] = settings.ACCEL_PREFIX + quote(file.key)
    response.headers["Cache-Control"] = _cache_control()
    return response


def _redirect(link: str) -> HttpResponse:
    response = HttpResponseRedirect(link)
    response.headers["Cache-Control"] = f"private, max-age={LINK_CACHE_SECONDS}"
    return response


def _describe(request: HttpRequest, response: AnyResponse, file: File) -> None:
    response.headers["Content-Type"] = file.mime
    response.headers["Content-Disposition"] = disposition(file.download_name, attachment=_is_download(request))


def _is_download(request: HttpRequest) -> bool:
    return "download=1" in request.META.get("QUERY_STRING", "").split("&")


def _cache_control() -> str:
    """A name has one content for ever; a short time is for a cache that does not hear of deletions."""
    seconds = settings.IMAGE_CACHE_SECONDS
    return f"public, max-age={seconds}, immutable" if seconds >= DAY else f"public, max-age={seconds}"


def _plain(status: int, text: str) -> HttpResponse:
    response = HttpResponse(f"{text}\n" if text else "", status=status, content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response
