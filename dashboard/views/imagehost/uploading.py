"""Uploads on the page itself, by the session instead of a key.

The check of the form's token reads the form, whose files must go to the disk on their way: it stands inside.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from accounts.errors import ApiError
from accounts.http import SignedInRequest
from accounts.plans import Allowance
from dashboard import access
from dashboard.views.imagehost.acts import NOTHING_CHOSEN, act, back
from imagehost import addresses, original_names, page_uploads, uploads
from imagehost.errors import NoFile
from imagehost.page_uploads import Received, Receiver
from imagehost.uploads import Uploaded


@csrf_exempt
@act("imagehost_setup")
def upload(request: SignedInRequest) -> HttpResponse:
    """Any number of files of a plain form; what became of each is said on the page that follows."""
    allowance = uploads.allowance_of(request.user.pk, timezone.now())
    with page_uploads.receiving(request, allowance) as receiver:
        return _answer_to_the_form(request, receiver, allowance)


@csrf_exempt
@access.signed_in
@require_POST
def upload_one(request: SignedInRequest) -> HttpResponse:
    """One file, for the page's script: JSON with its links, or the error as the API says it."""
    allowance = uploads.allowance_of(request.user.pk, timezone.now())
    with page_uploads.receiving(request, allowance) as receiver:
        return _answer_to_the_script(request, receiver, allowance)


@csrf_protect
def _answer_to_the_form(request: SignedInRequest, receiver: Receiver, allowance: Allowance) -> HttpResponse:
    stored = []
    for received in receiver.read():
        result = _store(request, received, allowance)
        if isinstance(result, ApiError):
            messages.error(request, f"{_shown(received)}: {result.error}")
        else:
            stored.append(_shown(received))
    if stored:
        messages.success(request, f"{len(stored)} file{pluralize(len(stored))} uploaded: {', '.join(stored)}")
    if receiver.is_too_much:
        messages.error(request, page_uploads.TOO_MUCH)
    elif not receiver.read():
        messages.error(request, NOTHING_CHOSEN)
    return back(request)


@csrf_protect
def _answer_to_the_script(request: SignedInRequest, receiver: Receiver, allowance: Allowance) -> HttpResponse:
    files = receiver.read()
    if len(files) == 1:
        result = _store(request, files[0], allowance)
    else:
        result = NoFile(page_uploads.TOO_MUCH if receiver.is_too_much else page_uploads.ONE_FILE)
    if isinstance(result, ApiError):
        return JsonResponse(result.body(), status=result.status, headers=result.headers())
    return JsonResponse(_links(result))


def _store(request: SignedInRequest, received: Received, allowance: Allowance) -> Uploaded | ApiError:
    now = timezone.now()  # the form may have come in slowly
    return page_uploads.store(owner_id=request.user.pk, received=received, allowance=allowance, now=now)


def _links(uploaded: Uploaded) -> dict[str, Any]:
    """Any: JSON."""
    file = uploaded.file
    folder = file.folder.name if file.folder else None
    return {"name": file.file_name, "url": addresses.file_url(file), "page": addresses.page_url(file), "folder": folder}


def _shown(received: Received) -> str:
    return original_names.shown(received.name, otherwise="A file")
