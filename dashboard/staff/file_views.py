"""Files of the image host and their folders, for staff: found, looked at and taken down."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.staff import APPEALS, FILES, PEOPLE, REPORTS, acting, actions, file_queries, queries, report_queries
from dashboard.staff.file_queries import Shown
from dashboard.staff.forms import FileSearch
from imagehost import delivery, media, names
from imagehost.delivery import Content
from imagehost.models import File, PreviewState
from imagehost.staff_actions import FILE_ACTIONS, FOLDER_ACTIONS
from imagehost.storing import storage
from imagehost.views import pages
from infrastructure.requests import content_security
from lookup.social import cases

PAGE_SIZE = 24
# Of the bytes of a file that may be quarantined: only our own pages show it, to the staff who asked.
HEADERS = {**delivery.HEADERS, "Cross-Origin-Resource-Policy": "same-origin"}


@access.for_staff(*FILES)
@require_safe
def file_list(request: SignedInRequest) -> HttpResponse:
    """Show files. 2 queries plus the session's: how many, and a page of them."""
    form, sees_email = FileSearch(request.GET), access.may(request.user, actions.SEE_EMAIL)
    chosen = form.chosen()
    found = file_queries.find_files(term=chosen["q"], state=chosen["state"], with_email=sees_email)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "rows": [(Shown.of(file), acting.buttons(request, FILE_ACTIONS, file)) for file in page],
        "is_filtered": any(chosen.values()),
        "may_see_people": access.may(request.user, *PEOPLE),
    }
    return render(request, "dashboard/staff/files.html", context)


@access.for_staff(*FILES)
@require_safe
def file_page(request: SignedInRequest, pk: str) -> HttpResponse:
    """Show a file. 2 queries plus the session's."""
    file = _found(pk)
    context = {
        "file": file,
        "title": names.shown(file.original_name, otherwise=file.file_name),
        "actions": acting.buttons(request, FILE_ACTIONS, file),
        "folder_actions": acting.buttons(request, FOLDER_ACTIONS, file.folder) if file.folder else [],
        "events": queries.events_of(file),
        "may_see_people": access.may(request.user, *PEOPLE),
        "may_see_admin": access.may(request.user, "imagehost.view_file"),
    }
    response = render(request, "dashboard/staff/file.html", context)
    response.headers[content_security.HEADER] = content_security.header(media=())
    return response


@access.for_staff(*FILES, *REPORTS, *APPEALS)
@require_safe
def picture(request: SignedInRequest, pk: str) -> HttpResponseBase:
    """Return the bytes of the file, delivered to the public or not; 404 for staff who only see reports or appeals, and
    none that they see is about it. 1 query plus the session's, at most 4 more for such staff."""
    file = _found(pk)
    if not access.may(request.user, *FILES) and not _is_named(request, file):
        raise Http404
    wanted = Content(
        etag=f'"{file.pk.hex}"',
        changed_at=int(file.uploaded_at.timestamp()),
        size=file.size,
        mime=file.mime,
        disposition=names.disposition(file.download_name, attachment=False),
        caching="private, no-store",
        read=lambda start, length: storage.bucket().read(file.moves_from or file.key, start, length),
    )
    return delivery.answer(request, lambda: delivery.content(request, wanted), headers=HEADERS)


def _is_named(request: SignedInRequest, file: File) -> bool:
    staff = request.user
    return (access.may(staff, *REPORTS) and report_queries.is_named(file, cases.seen_by(staff))) or (
        access.may(staff, *APPEALS) and report_queries.is_named(file, report_queries.decisions_seen_by(staff))
    )


@access.for_staff(*FILES)
@require_safe
def preview(request: SignedInRequest, pk: str) -> HttpResponse:
    """Return the small picture of the file, which no cache keeps. 1 query plus the session's."""
    file = _found(pk)
    if file.preview_state != PreviewState.MADE:
        raise Http404
    response = pages.preview_content(file, media.WEBP)
    response.headers[content_security.HEADER] = delivery.POLICY
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


@access.for_staff(*FILES)
@require_http_methods(["GET", "POST"])
def act(request: SignedInRequest, pk: str, act: str) -> HttpResponse:
    file = _found(pk)
    back_url = reverse("staff_file", args=[file.pk])
    return acting.answer(request, FILE_ACTIONS, act, file, name=file.file_name, back_url=back_url)


@access.for_staff(*FILES)
@require_http_methods(["GET", "POST"])
def act_on_folder(request: SignedInRequest, pk: str, act: str) -> HttpResponse:
    """Take the folder of the file down, or restore it."""
    file = _found(pk)
    if file.folder is None:
        raise Http404
    back_url, name = reverse("staff_file", args=[file.pk]), names.shown(file.folder.name, otherwise="Folder")
    return acting.answer(request, FOLDER_ACTIONS, act, file.folder, name=name, back_url=back_url)


def _found(pk: str) -> File:
    try:
        wanted = UUID(pk)
    except ValueError:
        raise Http404 from None
    return get_object_or_404(
        File.objects.ready().select_related("owner", "folder__owner").defer("deletion_hash"), pk=wanted
    )
