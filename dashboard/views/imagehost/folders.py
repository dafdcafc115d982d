"""Folders: made, changed, taken away."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from dashboard import access, versions
from dashboard.forms.imagehost_folders import EditFolderForm, FolderForm
from dashboard.views.imagehost.acts import is_done
from imagehost import addresses, folders, listing
from imagehost.errors import FolderExists, FolderNotFound, InvalidBody
from imagehost.models import Folder
from imagehost.models.folders import FolderQuerySet

_FIELDS = {"folderName": "name", "folderPasswordEnabled": "visibility", "folderPassword": "password"}


@access.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def folder_list(request: SignedInRequest) -> HttpResponse:
    """All folders, and a form for another one."""
    form = FolderForm(request.POST if request.method == "POST" else None)
    if is_done(form, lambda: _create(request, form)):
        messages.success(request, f"The folder {form.cleaned_data['name']} is there.")
        return redirect("imagehost_folders")
    held = [(folder, addresses.folder_url(folder)) for folder in listing.folders(owner_id=request.user.pk)]
    context = {"folders": held, "form": form, "max_folders": folders.MAX_FOLDERS}
    return render(request, "dashboard/imagehost/folders.html", context)


@access.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: SignedInRequest, folder_id: str) -> HttpResponse:
    folder = get_object_or_404(_own(request), pk=folder_id)
    form = EditFolderForm(request.POST if request.method == "POST" else None, folder=folder)
    if is_done(form, lambda: _change(request, folder, form)):
        messages.success(request, "The folder is saved.")
        return redirect("imagehost_folder", folder_id)
    return render(request, "dashboard/imagehost/folder_edit.html", {"folder": folder, "form": form})


@access.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest, folder_id: str) -> HttpResponse:
    try:
        folder = listing.folder(owner_id=request.user.pk, folder_id=folder_id)
        if request.method == "POST":
            folders.delete(owner_id=request.user.pk, folder_id=folder_id)
            messages.success(request, f"The folder {folder.name} is deleted.")
            return redirect("imagehost_folders")
    except FolderNotFound:
        raise Http404 from None
    return render(request, "dashboard/confirm.html", _question(folder, folder.file_count, folder.rules.count()))


def _question(folder: Folder, files: int, rules: int) -> dict[str, object]:
    """Of `dashboard/confirm.html`."""
    effects = ["Its page and its link no longer work."] if folder.is_public else []
    if files:
        effects.append(f"Its {files} file{pluralize(files)} stay{pluralize(files, 's,')} stored, in no folder.")
    if rules:
        effects.append(
            f"{rules} rule{pluralize(rules)} that lead{pluralize(rules, 's,')} here will be deleted with it."
        )
    return {
        "title": f"Delete the folder {folder.name}?",
        "effects": effects or ["It is empty, and no rule leads here."],
        "button": "Delete the folder",
        "back_url": reverse("imagehost_folder", args=[folder.pk]),
    }


def _own(request: SignedInRequest) -> FolderQuerySet:
    return Folder.objects.filter(owner=request.user)


def _create(request: SignedInRequest, form: FolderForm) -> None:
    try:
        folders.create(owner_id=request.user.pk, changes=form.changes(), now=timezone.now())
    except (FolderExists, InvalidBody) as refusal:
        raise _said(refusal) from None


def _change(request: SignedInRequest, folder: Folder, form: EditFolderForm) -> None:
    given = form.cleaned_data["version"]
    try:
        folders.change(
            owner_id=request.user.pk,
            folder_id=folder.pk,
            changes=form.changes(),
            now=timezone.now(),
            check=lambda held: versions.check(given, held.updated_at),
        )
    except FolderNotFound:
        raise Http404 from None
    except (FolderExists, InvalidBody) as refusal:
        raise _said(refusal) from None


def _said(refusal: FolderExists | InvalidBody) -> ValidationError:
    """The API's `field: sentence`, by the form's field."""
    if isinstance(refusal, FolderExists):
        return ValidationError({"name": refusal.error})
    field, _, sentence = refusal.error.partition(": ")
    return ValidationError({_FIELDS[field]: sentence})
