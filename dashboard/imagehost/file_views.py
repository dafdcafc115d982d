"""The image host's page of one file of the user."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts import content_security
from accounts.http import SignedInRequest
from dashboard import access
from dashboard.imagehost.forms import LifetimeForm
from dashboard.imagehost.views import shot_of
from imagehost import listing, pages


@access.signed_in
@require_safe
def detail(request: SignedInRequest, name: str) -> HttpResponse:
    """The file with its codes, which a file that is taken down has not. 1 query."""
    found = listing.named(owner_id=request.user.pk, names=[name])
    if not found:
        raise Http404
    file, shot = found[0], shot_of(found[0])
    context = {
        "file": file,
        "title": shot.tile.title,
        "tile": shot.tile,
        "lifetime": LifetimeForm(),
        "page_url": shot.page_url,
        "codes": [] if file.quarantined_at else pages.codes_of(file),
    }
    response = render(request, "dashboard/imagehost/file.html", context)
    images = pages.origins_of(file)
    response.headers[content_security.HEADER] = content_security.header(images=images)
    return response
