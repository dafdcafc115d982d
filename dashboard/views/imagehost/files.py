"""What is done with stored files: favourites, moves, deletion, one at a time or many."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms.imagehost import ROOT, SelectionForm
from dashboard.views.imagehost.acts import NOTHING_CHOSEN, act, back, back_url
from imagehost import files, listing, original_names
from imagehost.models import Folder


@act("imagehost_setup")
def favorite(request: SignedInRequest, name: str) -> HttpResponse:
    """The button's value says what it shall be: pressed twice it is no toggle."""
    found = listing.named(owner_id=request.user.pk, names=[name])
    if not found:
        raise Http404
    files.set_favorite(file=found[0], is_favorite=request.POST.get("is_favorite") == "1")
    return back(request)


@act("imagehost_setup")
def move(request: SignedInRequest) -> HttpResponse:
    """The chosen files into the chosen folder, or out of all of them."""
    form, folder_id = SelectionForm(request.POST), request.POST.get("folder", "")
    folder = None if folder_id == ROOT else Folder.objects.filter(pk=folder_id, owner=request.user).first()
    if not form.is_valid():
        messages.error(request, refusal_of(form))
    elif folder is None and folder_id != ROOT:
        messages.error(request, "Choose a folder of yours to move the files to.")
    else:
        chosen = listing.named(owner_id=request.user.pk, names=form.cleaned_data["file"])
        count = files.move(owner=request.user, files=chosen, folder=folder)
        place = f"the folder {folder.name}" if folder else "no folder"
        messages.success(request, f"{count} file{pluralize(count)} moved to {place}.")
    return back(request)


@act("imagehost_setup")
def choose_to_delete(request: SignedInRequest) -> HttpResponse:
    """On to the page that asks once more."""
    form = SelectionForm(request.POST)
    if not form.is_valid():
        messages.error(request, refusal_of(form))
        return back(request)
    query = urlencode([*(("file", name) for name in form.cleaned_data["file"]), ("back", back_url(request.POST))])
    return redirect(f"{reverse('imagehost_delete_files')}?{query}")


@access.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest) -> HttpResponse:
    """Of the files named, those that are one's own; none of them is 404."""
    values = request.POST if request.method == "POST" else request.GET
    form = SelectionForm(values)
    chosen = listing.named(owner_id=request.user.pk, names=form.cleaned_data["file"]) if form.is_valid() else []
    if not chosen:
        raise Http404
    if request.method == "POST":
        count = files.delete_all(owner=request.user, files=chosen)
        messages.success(request, f"{count} file{pluralize(count)} deleted.")
        return back(request)
    shown = [(file, original_names.shown(file.original_name, otherwise=file.file_name)) for file in chosen]
    context = {"files": shown, "total": sum(file.size for file in chosen), "back": back_url(values)}
    return render(request, "dashboard/imagehost/delete_files.html", context)


def refusal_of(form: SelectionForm) -> str:
    """One sentence."""
    return NOTHING_CHOSEN if form.has_error("file", "required") else " ".join(map(str, form.errors["file"]))
