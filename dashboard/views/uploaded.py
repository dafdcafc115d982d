"""GET /uploads/<path>: a file of a profile, for everybody who knows its address.

Stands outside the middleware of pages: no session, no cookie, and every header is set here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, parse_http_date_safe, quote_etag

from accounts import api_view, content_security
from dashboard import media
from imagehost import ranges
from imagehost.probing import InvalidMedia, ProberFailed
from imagehost.ranges import Part, Unsatisfiable
from imagehost.storage import Bucket, ObjectMissing, StorageFailed
from imagehost.views import delivery
from lookup import addresses, uploads
from lookup.models import Asset
from lookup.models.assets import PATH_PATTERN
from lookup.page.parts import CARD_TYPES

CACHING = "public, max-age=31536000, immutable"  # a path has one content for ever
DEMO_CACHING = "public, max-age=300"
_HEADERS = {
    **delivery.HEADERS,
    "Access-Control-Allow-Origin": "*",
}  # other sites show profiles too, fonts by CORS alone
_PATH = re.compile(PATH_PATTERN)

AnyResponse = HttpResponse | StreamingHttpResponse

logger = logging.getLogger(__name__)


def deliver(request: HttpRequest, path: str) -> AnyResponse:
    """GET and HEAD. 404 for a path that no upload has. 1 query."""
    return _finished(request, _response(request, path, _content))


def card(request: HttpRequest, path: str) -> AnyResponse:
    """A picture as a PNG, for messengers that show no WebP and no AVIF. 404 for a path that no upload has. 1 query.

    One that another store keeps is shown from there, as it is. 2 queries.
    """
    response = _response(request, path, _card)
    kept_elsewhere = Asset.objects.filter(path=path, size__isnull=True, mime__in=CARD_TYPES)
    if response.status_code == 404 and kept_elsewhere.exists():
        response = HttpResponseRedirect(addresses.upload(path), headers={"Cache-Control": DEMO_CACHING})
    return _finished(request, response)


def _finished(request: HttpRequest, response: AnyResponse) -> AnyResponse:
    is_page = request.META.get("HTTP_SEC_FETCH_DEST") == "document"
    response.headers[content_security.HEADER] = delivery.PAGE_POLICY if is_page else delivery.POLICY
    for name, value in _HEADERS.items():
        response.headers[name] = value
    api_view.finished(request, cast("HttpResponse", response))
    if response.status_code == 304:
        del response.headers["Content-Length"]  # it would be that of the file (RFC 9110 §8.6)
    return response


def _response(request: HttpRequest, path: str, answer: Callable[[HttpRequest, Asset], AnyResponse]) -> AnyResponse:
    if request.method not in {"GET", "HEAD"}:
        response = _plain(405, "Only GET and HEAD are allowed here.")
        response.headers["Allow"] = "GET, HEAD"
        return response
    if not _PATH.fullmatch(path):
        return _plain(404, "There is no such file.")
    asset = Asset.objects.filter(path=path, size__isnull=False).first()
    if asset is None:
        return _demo(path)
    try:
        return answer(request, asset)
    except ObjectMissing:
        logger.exception("The object of the upload %s is missing.", asset.path)
        return _plain(404, "There is no such file.")
    except (StorageFailed, InvalidMedia, ProberFailed):
        logger.exception("The upload %s cannot be read.", asset.path)
        response = _plain(503, "The file cannot be read at the moment.")
        response.headers["Retry-After"] = "5"
        return response


def _demo(path: str) -> HttpResponse:
    """What the demo people show comes with the service."""
    found = finders.find(f"uploads/{path}")
    if found is None or not Path(found).is_file():
        return _plain(404, "There is no such file.")
    response = HttpResponseRedirect(f"{settings.STATIC_URL}uploads/{path}")
    response.headers["Cache-Control"] = DEMO_CACHING
    return response


def _content(request: HttpRequest, asset: Asset) -> AnyResponse:
    etag, changed_at, size = f'"{asset.pk}"', int(asset.created_at.timestamp()), asset.size or 0
    response: AnyResponse | None = get_conditional_response(request, etag, changed_at)
    try:
        response = response or _body(request, asset, _part(request, size, etag, changed_at))
    except Unsatisfiable:
        response = _plain(416, "")
        response.headers["Content-Range"] = f"bytes */{size}"
        return response
    if response.status_code == 412:
        return _plain(412, "The file is not the one that you have.")
    response.headers["ETag"] = etag
    response.headers["Last-Modified"] = http_date(changed_at)
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Cache-Control"] = CACHING
    return response


def _part(request: HttpRequest, size: int, etag: str, changed_at: int) -> Part | None:
    """What of the file is asked for; None: all of it (RFC 9110 §13.1.5, §14.2)."""
    header = request.META.get("HTTP_RANGE")
    if header is None or request.method != "GET":
        return None
    condition = request.META.get("HTTP_IF_RANGE", "").strip()
    if condition and condition != etag and parse_http_date_safe(condition) != changed_at:
        return None
    return ranges.part_of(header, size)


def _body(request: HttpRequest, asset: Asset, part: Part | None) -> AnyResponse:
    start, length = (part.start, part.length) if part else (0, asset.size or 0)
    if request.method == "HEAD":
        response: AnyResponse = HttpResponse()
    else:
        store = cast("Bucket", uploads.bucket())
        pieces = store.read(uploads.key_of(asset.path), start, length)
        response = StreamingHttpResponse(pieces, status=206 if part else 200)
    response.headers["Content-Type"] = asset.mime
    response.headers["Content-Disposition"] = "inline"
    response.headers["Content-Length"] = str(length)
    if part:
        response.headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{asset.size}"
    return response


def _card(request: HttpRequest, asset: Asset) -> HttpResponse:
    if asset.mime not in CARD_TYPES:
        return _plain(404, "There is no such file.")
    etag = quote_etag(f"{asset.pk}-card")
    response = get_conditional_response(request, etag)
    if response is None:
        response = HttpResponse(media.card(asset), content_type="image/png", headers={"Content-Disposition": "inline"})
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = CACHING
    return response


def _plain(status: int, text: str) -> HttpResponse:
    response = HttpResponse(f"{text}\n" if text else "", status=status, content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response
