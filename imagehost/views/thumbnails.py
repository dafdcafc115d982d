"""The answer with a file's preview, whatever its address."""

from __future__ import annotations

import logging

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from accounts import content_security
from imagehost import media, probing, storage
from imagehost.media import MediaType
from imagehost.models import File, PreviewState
from imagehost.original_names import disposition
from imagehost.probing import InvalidMedia, ProberFailed
from imagehost.storage import ObjectMissing, StorageFailed
from imagehost.views import locked

logger = logging.getLogger(__name__)

CACHING = "public, max-age=3600"  # not longer: the file may go away, or into a folder with a password


def answer(request: HttpRequest, file: File, *, is_png: bool = False) -> HttpResponse:
    """Http404 where there is none; 503 while the store or the prober does not answer.

    `is_png`: for messengers that show no WebP. It is made of the preview for each request, by the prober.
    """
    if file.preview_state != PreviewState.MADE:
        raise Http404
    type_ = media.PNG if is_png else media.WEBP
    etag = quote_etag(f"{file.pk.hex}-{file.preview_width}x{file.preview_height}{'-png' if is_png else ''}")
    response = get_conditional_response(request, etag=etag) or _whole(file, type_)
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


def _whole(file: File, type_: MediaType) -> HttpResponse:
    """Some ten kilobytes, as a PNG some hundred, so they are read at once."""
    try:
        with storage.bucket().fetched(file.preview_key) as path:
            is_kept = type_ is media.WEBP
            content = path.read_bytes() if is_kept else probing.render(path, media.WEBP, as_="PNG").content
    except (ObjectMissing, FileNotFoundError):
        raise Http404 from None
    except (StorageFailed, InvalidMedia, ProberFailed):
        logger.exception("The preview of %s cannot be read.", file.pk)
        return HttpResponse("Please try again.", content_type="text/plain", status=503, headers={"Retry-After": "30"})
    headers = {"Content-Disposition": disposition(f"{file.name}.{type_.extension}")}
    return HttpResponse(content, content_type=type_.mime, headers=headers)
