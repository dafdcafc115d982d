"""Files of the image host, for staff: found, looked at and taken out of delivery."""

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
from dashboard.staff import APPEALS, FILES, PEOPLE, REPORTS, acting, actions, file_queries, queries
from dashboard.staff.forms import FileSearch
from imagehost import delivery, names
from imagehost.delivery import Content
from imagehost.models import File
from imagehost.staff_actions import FILE_ACTIONS
from imagehost.storing import storage
from infrastructure.requests import content_security

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
    context = {"form": form, "page": page, "is_filtered": any(chosen.values())}
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
    """Return the bytes of the file, delivered to the public or not. 1 query plus the session's."""
    file = _found(pk)
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


@access.for_staff(*FILES)
@require_http_methods(["GET", "POST"])
def act(request: SignedInRequest, pk: str, act: str) -> HttpResponse:
    file = _found(pk)
    back_url = reverse("staff_file", args=[file.pk])
    return acting.answer(request, FILE_ACTIONS, act, file, name=file.file_name, back_url=back_url)


def _found(pk: str) -> File:
    try:
        wanted = UUID(pk)
    except ValueError:
        raise Http404 from None
    return get_object_or_404(File.objects.ready().select_related("owner", "folder").defer("deletion_hash"), pk=wanted)
