"""GET /files/{name}: the public page of a file; its preview; the page of its deletion link."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from accounts import content_security
from accounts.http import SignedInRequest
from imagehost import files
from imagehost.models import File
from imagehost.page import files as pages
from imagehost.page import origins
from imagehost.views import locked, thumbnails

CACHING = "private, no-cache"  # signed-in visitors get a page of their own, and the file may go at any time


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def file_page(request: HttpRequest, name: str) -> HttpResponse:
    file = _found(name)
    if file.folder is not None and not locked.may_see(request, file.folder):
        return locked.page(request, file.folder, file_name=file.name)
    response = render(request, "imagehost/file.html", {"page": pages.page_of(file)})
    has_password = file.folder is not None and file.folder.is_password_enabled
    response.headers["Cache-Control"] = locked.CACHING if has_password else CACHING
    media = origins.of(file)
    response.headers[content_security.HEADER] = content_security.header(images=media, media=media)
    return response


@csrf_exempt  # as above
@require_safe
def file_preview(request: HttpRequest, name: str, *, is_png: bool = False) -> HttpResponse:
    file = _found(name)
    if file.folder is not None and not locked.may_see(request, file.folder):
        raise Http404
    return thumbnails.answer(request, file, is_png=is_png)


@csrf_exempt  # see below: the token is what a form's would be
@require_http_methods(["GET", "HEAD", "POST"])
def delete_file(request: HttpRequest, name: str, token: str) -> HttpResponse:
    """GET asks, POST deletes: a client that unfurls a link does not follow its form.

    What cannot be guessed stands in the address, and no cookie decides anything, so nobody's browser can be made to
    send this form by somebody who could not do so alone. It therefore works without cookies, and under `no-referrer`,
    which makes browsers send `Origin: null` with it.
    """
    file = pages.find(name)
    is_theirs = files.is_deletion_token(file or _NO_FILE, token)
    if file is None or not is_theirs:
        return _unlinked(render(request, "404.html", status=404))
    if request.method != "POST":
        return _unlinked(render(request, "imagehost/delete.html", {"page": pages.page_of(file)}))
    if not files.delete(file=file, by=None):  # twice at once
        return _unlinked(render(request, "404.html", status=404))
    return _unlinked(render(request, "imagehost/deleted.html"))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete_own_file(request: SignedInRequest, name: str) -> HttpResponse:
    """The same for the signed-in owner, without a token. 404 for other users' files and for unknown ones."""
    file = pages.find(name)
    if file is None or file.owner_id != request.user.pk:
        raise Http404
    if request.method != "POST":
        return render(request, "imagehost/delete.html", {"page": pages.page_of(file), "is_owner": True})
    if not files.delete(file=file, by=request.user):
        raise Http404
    return render(request, "imagehost/deleted.html")


_NO_FILE = File(deletion_hash="0" * 64)  # to compare with where there is none


def _found(name: str) -> File:
    file = pages.find(name)
    if file is None:
        raise Http404
    return file


def _unlinked(response: HttpResponse) -> HttpResponse:
    """The address of the page is a secret: it is neither kept nor passed on."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response
