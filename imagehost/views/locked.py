"""The form that asks for the password of a folder, in place of everything that the folder holds."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from imagehost import folder_access
from imagehost.models import Folder

CACHING = "private, no-store"


@dataclass(frozen=True)
class Refusal:
    """Why the password did not open the folder. `seconds_left`: before another one is looked at; 0 where at once."""

    text: str
    status: int = 403
    seconds_left: int = 0


def may_see(request: HttpRequest, folder: Folder) -> bool:
    """Whether the visitor may see what the folder holds."""
    return folder_access.is_open(folder, viewer=request.user, session=request.session, now=timezone.now())


def page(request: HttpRequest, folder: Folder, *, file_name: str = "", refusal: Refusal | None = None) -> HttpResponse:
    """Says nothing of the folder. `file_name`: of the file whose page to go to with the right password."""
    context = {"folder_id": folder.pk, "file_name": file_name, "refusal": refusal}
    status = refusal.status if refusal else 403
    response = render(request, "imagehost/folder_locked.html", context, status=status)
    response.headers["Cache-Control"] = CACHING
    response.headers["X-Robots-Tag"] = "noindex"
    if refusal and refusal.seconds_left:
        response.headers["Retry-After"] = str(refusal.seconds_left)
    return response
