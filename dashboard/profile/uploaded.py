"""GET /uploads/<path>: a file of a profile, for anyone with its address.

Every header is set by `imagehost.delivery`: the answers pass by the middleware of pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from imagehost import delivery, media
from imagehost.delivery import AnyResponse, Content
from imagehost.examining import probing
from imagehost.storing import previews
from imagehost.storing.storage import Bucket
from lookup.editing import uploads
from lookup.models import Asset
from lookup.models.profiles import PATH_PATTERN
from lookup.page.presenters import CARD_TYPES
from lookup.shapes import addresses

CACHING = "public, max-age=31536000, immutable"  # the content of a path never changes
DEMO_CACHING = "public, max-age=300"
_HEADERS = {
    **delivery.HEADERS,
    "Access-Control-Allow-Origin": "*",
}  # other sites show profiles too, fonts only by CORS
_PATH = re.compile(PATH_PATTERN)


def deliver(request: HttpRequest, path: str) -> AnyResponse:
    """Answer GET and HEAD. 404 for a path that no upload has. 1 query."""
    return delivery.answer(request, lambda: _found(request, path, _content), headers=_HEADERS)


def card(request: HttpRequest, path: str) -> AnyResponse:
    """Answer with a PNG, for messengers that show no WebP and no AVIF. 404 for a path that no upload has. 1 query.

    A picture in another store is shown from there, as it is. 2 queries.
    """

    def found() -> AnyResponse:
        response = _found(request, path, _card)
        kept_elsewhere = Asset.objects.filter(path=path, size__isnull=True, mime__in=CARD_TYPES)
        if response.status_code == 404 and _PATH.fullmatch(path) and kept_elsewhere.exists():
            return HttpResponseRedirect(addresses.upload(path), headers={"Cache-Control": DEMO_CACHING})
        return response

    return delivery.answer(request, found, headers=_HEADERS)


def _found(request: HttpRequest, path: str, answer: Callable[[HttpRequest, Asset], AnyResponse]) -> AnyResponse:
    if not _PATH.fullmatch(path):
        return delivery.not_found()
    asset = Asset.objects.filter(path=path, size__isnull=False).first()
    return _demo(path) if asset is None else answer(request, asset)


def _demo(path: str) -> HttpResponse:
    """Return what the demo people show, which comes with the service."""
    found = finders.find(f"uploads/{path}")
    if found is None or not Path(found).is_file():
        return delivery.not_found()
    response = HttpResponseRedirect(f"{settings.STATIC_URL}uploads/{path}")
    response.headers["Cache-Control"] = DEMO_CACHING
    return response


def _content(request: HttpRequest, asset: Asset) -> AnyResponse:
    def read(start: int, length: int) -> Iterator[bytes]:
        return cast("Bucket", uploads.bucket()).read(uploads.key_of(asset.path), start, length)

    content = Content(
        etag=f'"{asset.pk}"',
        changed_at=int(asset.created_at.timestamp()),
        size=asset.size or 0,
        mime=asset.mime,
        disposition="inline",
        caching=CACHING,
        read=read,
    )
    return delivery.content(request, content)


def _card(request: HttpRequest, asset: Asset) -> HttpResponse:
    """Answer with the PNG, which is made once. Raises StorageFailed, InvalidMedia, ProberFailed."""
    if asset.mime not in CARD_TYPES:
        return delivery.not_found()
    etag = quote_etag(f"{asset.pk}-card")
    response = get_conditional_response(request, etag)
    if response is None:
        bucket, key = cast("Bucket", uploads.bucket()), uploads.card_key_of(asset.path)

        def make_card() -> bytes:
            with bucket.fetched(uploads.key_of(asset.path)) as path:
                content = probing.render(path, media.BY_MIME[asset.mime], as_="PNG").content
            bucket.keep_bytes(key, content, mime=media.PNG.mime)
            return content

        png = previews.stored_or_made(bucket, key, make_card)
        response = HttpResponse(png, content_type="image/png", headers={"Content-Disposition": "inline"})
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = CACHING
    return response
