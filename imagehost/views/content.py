"""A file's own URL, which needs no session. `imagehost.delivery` sets the common headers."""

from __future__ import annotations

import re
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from imagehost import delivery, moderation, names
from imagehost.delivery import AnyResponse, Content
from imagehost.models import File
from imagehost.storing import daily_counts, storage

DAY = 86_400  # seconds
LINK_SECONDS = 3600  # for which the target of a redirect is valid
LINK_CACHE_SECONDS = 300  # of the redirect
_FILE_NAME = re.compile(r"([A-Za-z0-9]{8})\.([a-z0-9]{3,4})", re.ASCII)


def deliver(request: HttpRequest, file_name: str) -> AnyResponse:
    """Answer GET and HEAD; 404 unless a delivered file has this name and extension, by exact case. 1 query.

    451 with the kind of reason for one that staff took down: 1 query more.
    """
    return delivery.answer(request, lambda: _found(request, file_name))


def not_found(request: HttpRequest) -> AnyResponse:
    """Answer other paths of the delivery host."""
    return delivery.answer(request, delivery.not_found)


def _found(request: HttpRequest, file_name: str) -> AnyResponse:
    parts = _FILE_NAME.fullmatch(file_name)
    file = File.objects.kept().by_name(parts[1]).filter(extension=parts[2]).first() if parts else None
    if file is not None and file.quarantined_at:
        return delivery.taken_down(moderation.reason_of(moderation.decision_about(file)))
    if file is None or not file.is_delivered:
        return delivery.not_found()
    response = _answer(request, file)
    daily_counts.count_download(request, file, response.status_code)
    return response


def _answer(request: HttpRequest, file: File) -> AnyResponse:
    if settings.FILE_DELIVERY == "accel":
        # nginx sends the content with dates and ranges; it adds `delivery.HEADERS`.
        response = HttpResponse()
        response.headers["Content-Type"] = file.mime
        response.headers["Content-Disposition"] = _disposition(request, file)
        response.headers["X-Accel-Redirect"] = settings.ACCEL_PREFIX + quote(file.key)
        response.headers["Cache-Control"] = _cache_control(file)
        return response
    is_redirected = settings.FILE_DELIVERY == "redirect" and request.method == "GET"  # a signed link is for GET only
    if is_redirected and (redirect := _redirect(request, file)):
        return redirect
    content = Content(
        etag=f'"{file.pk.hex}"',
        changed_at=int(file.uploaded_at.timestamp()),
        size=file.size,
        mime=file.mime,
        disposition=_disposition(request, file),
        caching=_cache_control(file),
        read=lambda start, length: storage.bucket().read(file.key, start, length),
    )
    return delivery.content(request, content)


def _redirect(request: HttpRequest, file: File) -> HttpResponse | None:
    """Redirect to the store; None where its link would not end with the file, in its last second too."""
    seconds = file.seconds_left(timezone.now(), most=LINK_SECONDS) if file.expires_at else None
    link = None
    if seconds != 0:
        link = storage.bucket().link(
            file.key,
            mime=file.mime,
            download_name=file.download_name,
            is_attachment=_is_download(request),
            seconds=seconds,
        )
    if link is None:
        return None
    response = HttpResponseRedirect(link)
    response.headers["Cache-Control"] = f"private, max-age={min(LINK_CACHE_SECONDS, seconds or LINK_SECONDS)}"
    return response


def _disposition(request: HttpRequest, file: File) -> str:
    return names.disposition(file.download_name, attachment=_is_download(request))


def _is_download(request: HttpRequest) -> bool:
    return "download=1" in request.META.get("QUERY_STRING", "").split("&")


def _cache_control(file: File) -> str:
    """Return Cache-Control. A name's content never changes; caches that deletion does not purge need a short lifetime.

    A file that expires is cached until then.
    """
    seconds = file.seconds_left(timezone.now(), most=settings.IMAGE_CACHE_SECONDS)
    is_final = seconds >= DAY and file.expires_at is None
    return f"public, max-age={seconds}, immutable" if is_final else f"public, max-age={seconds}"
