"""Visitors report a file, an album or a folder, from its public page."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from imagehost import moderation
from imagehost.folders import albums, folder_access
from imagehost.models import Folder
from imagehost.moderation import Row
from imagehost.pages import file_pages
from lookup.views import reporting


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_file(request: SignedInRequest, name: str) -> HttpResponse:
    """Report a file; 404 for one that the visitor does not see. 3 queries and the form's."""
    file = file_pages.find_file(name)
    if file is None or not _may_see(request, file.folder):
        raise Http404
    return _answer(request, file)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_album(request: SignedInRequest, link: str) -> HttpResponse:
    """Report an album; 404 for one that the visitor does not see."""
    album = albums.find(link)
    if album is None:
        raise Http404
    return _answer(request, album)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_folder(request: SignedInRequest, folder_id: str) -> HttpResponse:
    """Report a folder; 404 for one that the visitor does not see."""
    folder = file_pages.find_folder(folder_id, viewer=request.user)
    if folder is None or not _may_see(request, folder):
        raise Http404
    return _answer(request, folder)


def _may_see(request: SignedInRequest, folder: Folder | None) -> bool:
    """Return whether the visitor has given the folder's password, where it has one."""
    now = timezone.now()
    return folder is None or folder_access.is_open(folder, viewer=request.user, session=request.session, now=now)


def _answer(request: SignedInRequest, row: Row) -> HttpResponse:
    thing = moderation.thing_of(row)
    return reporting.answer(
        request,
        {"kind": thing.kind.label.lower(), "title": thing.title},
        back=thing.path,
        problem=reporting.problem_of(user_id=row.owner_id, comment=None, by=request.user, thing=thing),
        send=lambda **given: moderation.report(row=row, by=request.user, **given),
    )
