"""The image host's first page: uploading, and everything that is stored; the same of one folder."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts import content_security
from accounts.http import SignedInRequest
from accounts.models import User
from accounts.plans import ALLOWANCES, Allowance, Plan
from dashboard import access
from dashboard.forms.imagehost import FilterForm
from imagehost import addresses, listing, media, quotas
from imagehost.errors import FolderNotFound
from imagehost.models import File, Folder
from imagehost.page import folders as pages
from imagehost.page import origins
from imagehost.page.folders import Tile

PAGE_SIZE = 48
ACCEPTED = ",".join(media.BY_MIME)


@dataclass(frozen=True)
class Storage:
    """What a plan allows, and how much of it is taken; in bytes."""

    plan: Plan
    allowance: Allowance
    used: int

    @property
    def percent(self) -> str:
        """Whole, and 0 or 100 only where that is so."""
        exact = 100 * self.used / self.allowance.max_storage
        if 0 < exact < 1:
            return "Less than 1"
        return str(100 if exact >= 100 else min(99, round(exact)))

    @property
    def is_full(self) -> bool:
        return self.used >= self.allowance.max_storage


@dataclass(frozen=True)
class Shot:
    """A file of the gallery, with its links as whole URLs."""

    tile: Tile
    url: str
    page_url: str


@access.signed_in
@require_safe
def gallery(request: SignedInRequest) -> HttpResponse:
    """3 queries beside those of the session, and 2 where there are files: folders, usage, whether there are any."""
    context = {"storage": storage_of(request.user), "accepted": ACCEPTED}
    return _page(request, "dashboard/imagehost/gallery.html", context)


@access.signed_in
@require_safe
def folder(request: SignedInRequest, folder_id: str) -> HttpResponse:
    """1 query more: the folder, with what is in it."""
    try:
        found = listing.folder(owner_id=request.user.pk, folder_id=folder_id)
    except FolderNotFound:
        raise Http404 from None
    context = {"folder": found, "url": addresses.folder_url(found), "in_archive": pages.in_archive(found.file_count)}
    return _page(request, "dashboard/imagehost/folder.html", context, folder=found)


def storage_of(owner: User) -> Storage:
    """1 query."""
    plan = owner.current_plan(timezone.now())
    return Storage(plan, ALLOWANCES[plan], quotas.used(owner.pk))


def _page(
    request: SignedInRequest, template: str, context: dict[str, Any], *, folder: Folder | None = None
) -> HttpResponse:
    """Any: a template's context."""
    folders = list(listing.folders(owner_id=request.user.pk))
    filters = FilterForm(request.GET or None, folders=folders, with_folder=folder is None)
    rows = listing.search(owner_id=request.user.pk, wanted=filters.wanted(folder.pk if folder else None))
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    files = list(page)
    shown = {
        "filters": filters,
        "is_filtered": any(request.GET.get(name) for name in filters.fields),
        "folders": folders,
        "page": page,
        "shots": [_shot(file) for file in files],
        "back": request.get_full_path(),
    }
    response = render(request, template, {**context, **shown})
    images = origins.of(files[0]) if files else ()
    response.headers[content_security.HEADER] = content_security.header(images=images)
    return response


def _shot(file: File) -> Shot:
    tile = pages.tile(file, preview=reverse("file_preview", args=[file.name]))
    if file.quarantined_at:  # nobody gets it, not even its owner
        tile = dataclasses.replace(tile, src="")
    return Shot(tile, url=addresses.file_url(file), page_url=addresses.page_url(file))
