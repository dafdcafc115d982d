"""What is done with selected files of the gallery: one form, whose field `act` says what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone

from accounts.http import SignedInRequest
from dashboard.imagehost.forms import LIFETIMES, ROOT, SelectionForm
from dashboard.imagehost.views import NOTHING_CHOSEN, act, back, back_url, form_view
from imagehost import names
from imagehost.folders import albums, listing
from imagehost.models import Album, File, Folder
from imagehost.storing import files
from infrastructure.requests.errors import sentences

NEW = "new"  # in place of an album's id


@act("imagehost_setup")
def selected(request: SignedInRequest) -> HttpResponse:
    """Do what `act` says with the selected files, of which those of the user count; an error is shown on the next
    page."""
    form = SelectionForm(request.POST)
    if not form.is_valid():
        is_empty = form.has_error("file", "required")
        messages.error(request, NOTHING_CHOSEN if is_empty else " ".join(map(str, chain(*form.errors.values()))))
        return back(request)
    kind, _, target = form.cleaned_data["act"].partition(":")
    if kind == "delete":
        query = [*(("file", name) for name in form.cleaned_data["file"]), ("back", back_url(request.POST))]
        return redirect(f"{reverse('imagehost_delete_files')}?{urlencode(query)}")
    if kind not in _ACTS:
        messages.error(request, "Choose what to do with the selected files.")
        return back(request)
    chosen = listing.named(owner_id=request.user.pk, names=form.cleaned_data["file"])
    return _ACTS[kind](request, chosen, target)


def _move(request: SignedInRequest, chosen: list[File], folder_id: str) -> HttpResponse:
    """Move the files to the folder, or to none."""
    folder = None if folder_id == ROOT else Folder.objects.filter(pk=folder_id, owner=request.user).first()
    if folder is None and folder_id != ROOT:
        messages.error(request, "Choose one of your folders to move the files to.")
    else:
        count = files.move(owner=request.user, files=chosen, folder=folder)
        place = f"the folder {folder.name}" if folder else "no folder"
        messages.success(request, f"{count} file{pluralize(count)} moved to {place}.")
    return back(request)


def _expire(request: SignedInRequest, chosen: list[File], lifetime: str) -> HttpResponse:
    """Set when the files expire, except files that have expired."""
    if lifetime not in LIFETIMES:
        messages.error(request, "Choose from the list when the files expire.")
    else:
        text, period = LIFETIMES[lifetime]
        expires_at = timezone.now() + period if period else None
        count = files.set_expiry(owner=request.user, files=chosen, expires_at=expires_at)
        verb = f"will expire {text.lower()}" if period else "will not expire"
        messages.success(request, f"{count} file{pluralize(count)} {verb}.")
    return back(request)


def _add_to_album(request: SignedInRequest, chosen: list[File], album_id: str) -> HttpResponse:
    """Add the files to an album, or to a new one. An error changes nothing."""
    try:
        if album_id == NEW:
            title = f"Album of {timezone.localdate():%d %B %Y}".replace(" 0", " ")
            album_id = albums.create(owner=request.user, title=title, files=chosen, now=timezone.now()).pk
            count = len(chosen)
        else:
            count = albums.add(owner=request.user, album_id=album_id, files=chosen, now=timezone.now())
    except Album.DoesNotExist:
        messages.error(request, "Choose one of your albums to add the files to.")
    except ValidationError as refusal:
        messages.error(request, sentences(refusal))
    else:
        messages.success(request, f"{count} file{pluralize(count)} added to the album.")
        return redirect("imagehost_album", album_id)
    return back(request)


_ACTS: Mapping[str, Callable[[SignedInRequest, list[File], str], HttpResponse]] = {
    "move": _move,
    "expire": _expire,
    "album": _add_to_album,
}


@form_view
def delete_files(request: SignedInRequest) -> HttpResponse:
    """Delete the named files that the user owns; 404 where there are none."""
    values = request.POST if request.method == "POST" else request.GET
    form = SelectionForm(values)
    chosen = listing.named(owner_id=request.user.pk, names=form.cleaned_data["file"]) if form.is_valid() else []
    if not chosen:
        raise Http404
    if request.method == "POST":
        count = files.delete_all(owner=request.user, files=chosen)
        messages.success(request, f"{count} file{pluralize(count)} deleted.")
        return back(request)
    shown = [(file, names.shown(file.original_name, otherwise=file.file_name)) for file in chosen]
    context = {"files": shown, "total": sum(file.size for file in chosen), "back": back_url(values)}
    return render(request, "dashboard/imagehost/delete_files.html", context)
