"""The answer with a file's preview, whatever its address."""

from __future__ import annotations

import logging

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from accounts import content_security
from imagehost import media, storage
from imagehost.disposition import disposition
from imagehost.models import File, PreviewState
from imagehost.storage import ObjectMissing, StorageFailed
from imagehost.views import locked

logger = logging.getLogger(__name__)

CACHING = "public, max-age=3600"  # not longer: the file may go away, or into a folder with a password


def answer(request: HttpRequest, file: File) -> HttpResponse:
    """Http404 where there is none; 503 while the store does not answer."""
    if file.preview_state != PreviewState.MADE:
        raise Http404
    etag = quote_etag(f"{file.pk.hex}-{file.preview_width}x{file.preview_height}")
    response = get_conditional_response(request, etag=etag) or _whole(file)
    is_private = file.folder is not None and (file.folder.is_password_enabled or not file.folder.is_public)
    response.headers["Cache-Control"] = locked.CACHING if is_private else CACHING
    if response.status_code == 503:
        response.headers["Cache-Control"] = "no-store"
        return response
    response.headers["ETag"] = etag
    response.headers[content_security.HEADER] = "default-src 'none'; sandbox"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _whole(file: File) -> HttpResponse:
    """Some ten kilobytes, so they are read at once."""
    try:
        with storage.bucket().fetched(file.preview_key) as path:
            content = path.read_bytes()
    except (ObjectMissing, FileNotFoundError):
        raise Http404 from None
    except StorageFailed:
        logger.exception("The preview of %s cannot be read.", file.pk)
        return HttpResponse("Please try again.", content_type="text/plain", status=503, headers={"Retry-After": "30"})
    headers = {"Content-Disposition": disposition(f"{file.name}.webp")}
    return HttpResponse(content, content_type=media.WEBP.mime, headers=headers)
