"""GET /folders/{id}: the page of a public folder; its password; its previews; its files as one archive."""

from __future__ import annotations

import logging

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from accounts import content_security
from accounts.limits import LimitsUnavailable
from imagehost import archives, folder_access, original_names
from imagehost.archives import Archive, Refused
from imagehost.folder_access import TooManyGuesses, WrongPassword
from imagehost.models import Folder
from imagehost.original_names import disposition
from imagehost.page import folders as pages
from imagehost.page import origins
from imagehost.views import locked, thumbnails
from imagehost.views.locked import Refusal

logger = logging.getLogger(__name__)

CACHING = "private, no-cache"  # the owner gets another page than everybody, and what is in it changes


@require_http_methods(["GET", "HEAD", "POST"])
def folder_page(request: HttpRequest, folder_id: str) -> HttpResponse:
    folder = _found(request, folder_id)
    if request.method == "POST":
        return _unlocked(request, folder)
    if not locked.may_see(request, folder):
        return locked.page(request, folder)
    page = pages.page_of(folder, request.GET.get("page", "1"))
    if page is None:
        raise Http404
    response = render(request, "imagehost/folder.html", {"page": page})
    response.headers["Cache-Control"] = locked.CACHING if folder.is_password_enabled else CACHING
    images = origins.of(page.tiles[0].file) if page.tiles else ()
    response.headers[content_security.HEADER] = content_security.header(images=images)
    return response


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def folder_preview(request: HttpRequest, folder_id: str, name: str) -> HttpResponse:
    folder = _found(request, folder_id)
    file = pages.file_in(folder, name) if locked.may_see(request, folder) else None
    if file is None:
        raise Http404
    return thumbnails.answer(request, file)


@csrf_exempt  # as above
@require_safe
def folder_archive(request: HttpRequest, folder_id: str) -> HttpResponseBase:
    folder = _found(request, folder_id)
    if not locked.may_see(request, folder):
        return locked.page(request, folder)
    try:
        response = _archive(request, folder)
    except Refused as refused:
        return _later(refused)
    name = original_names.shown(folder.name, otherwise="folder")
    response.headers["Content-Disposition"] = disposition(f"{name}.zip", attachment=True)
    response.headers["Cache-Control"] = locked.CACHING
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers[content_security.HEADER] = "default-src 'none'; sandbox"
    return response


def _archive(request: HttpRequest, folder: Folder) -> StreamingHttpResponse:
    """Raises Refused: a stranger must not keep every thread at work."""
    if request.method == "HEAD":
        return StreamingHttpResponse((), content_type=archives.MIME)
    archives.count()
    return StreamingHttpResponse(Archive(pages.archived(folder)), content_type=archives.MIME)


def _later(refused: Refused) -> HttpResponse:
    text = f"Too many archives are asked for. Please try again in {refused.seconds_left} s.\n"
    headers = {"Retry-After": str(refused.seconds_left), "Cache-Control": locked.CACHING}
    return HttpResponse(text, status=refused.status, content_type="text/plain; charset=utf-8", headers=headers)


def _unlocked(request: HttpRequest, folder: Folder) -> HttpResponse:
    """On to the folder, or to the page of the file in it that was asked for, after the right password."""
    name = request.POST.get("file", "")
    refusal = None if locked.may_see(request, folder) else _refusal(request, folder)
    if refusal is not None:
        return locked.page(request, folder, file_name=name, refusal=refusal)
    file = pages.file_in(folder, name) if name else None
    place = reverse("file_page", args=[file.name]) if file else reverse("folder_page", args=[folder.pk])
    return HttpResponseRedirect(place, status=303, headers={"Cache-Control": locked.CACHING})


def _refusal(request: HttpRequest, folder: Folder) -> Refusal | None:
    """What is wrong with the password that was sent; None: it was right, and the session is unlocked."""
    password, now = request.POST.get("password", ""), timezone.now()
    try:
        folder_access.unlock(folder, password, viewer=request.user, session=request.session, now=now)
    except WrongPassword:
        return Refusal("This is not the password.")
    except TooManyGuesses as refused:
        return Refusal(f"Too many tries. Please try again in {refused.seconds_left} s.", 429, refused.seconds_left)
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        return Refusal("Passwords cannot be checked at the moment. Please try again.", 503, 30)
    return None


def _found(request: HttpRequest, folder_id: str) -> Folder:
    folder = pages.find(folder_id, viewer=request.user)
    if folder is None:
        raise Http404
    return folder
