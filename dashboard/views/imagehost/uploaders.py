"""Set-ups for programs that upload, each with a fresh key, and the keys that were made so."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.views.imagehost.acts import act
from imagehost import uploaders

MOST_KEYS = 50  # that are listed; the page of all keys has the others


@access.signed_in
@require_safe
def uploader_list(request: SignedInRequest) -> HttpResponse:
    keys = uploaders.keys_of(request.user)[:MOST_KEYS]
    return render(request, "dashboard/imagehost/uploaders.html", {"keys": keys, "now": timezone.now()})


@act("imagehost_uploaders")
def download(request: SignedInRequest, kind: str) -> HttpResponse:
    """A set-up with a fresh key: a file, or a page that shows it once."""
    if kind not in uploaders.ALL:
        raise Http404
    try:
        made = uploaders.make(owner=request.user, kind=kind, now=timezone.now())
    except ValidationError as refusal:
        messages.error(request, " ".join(refusal.messages))
        return redirect("imagehost_uploaders")
    if not made.uploader.file_name:
        return render(request, "dashboard/imagehost/uploader.html", {"made": made})
    disposition = f'attachment; filename="{made.uploader.file_name}"'
    headers = {"Content-Disposition": disposition, "Content-Type": made.uploader.content_type}
    return HttpResponse(made.text, headers=headers)
