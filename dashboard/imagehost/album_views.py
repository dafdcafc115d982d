"""The image host's pages of albums."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.http import SignedInRequest
from dashboard import versions
from dashboard.forms import confirm, is_done
from dashboard.imagehost.forms import AlbumForm, EditAlbumForm, MoveForm
from dashboard.imagehost.views import act, form_view, tile_of
from imagehost import moderation
from imagehost.folders import albums
from imagehost.models import Album
from imagehost.pages import file_pages
from infrastructure.requests import content_security


@form_view
def album_list(request: SignedInRequest) -> HttpResponse:
    """Show all albums, and a form for another one. 1 query."""
    form = AlbumForm(request.POST if request.method == "POST" else None)
    if is_done(form, lambda: albums.create(owner=request.user, files=(), now=timezone.now(), **form.cleaned_data)):
        messages.success(request, f"Album {form.cleaned_data['title']} created. Add files to it from your gallery.")
        return redirect("imagehost_albums")
    held = [(album, album.url) for album in albums.of(request.user)]
    return render(request, "dashboard/imagehost/albums.html", {"albums": held, "form": form})


@form_view
def edit_album(request: SignedInRequest, album_id: str) -> HttpResponse:
    """Show and change its title, its link, and its files in order. 2 queries."""
    album = _found(request, album_id)
    form = EditAlbumForm(request.POST if request.method == "POST" else None, album=album)

    def rename() -> None:
        values = form.cleaned_data
        albums.change(
            owner=request.user,
            album_id=album.pk,
            title=values["title"],
            now=timezone.now(),
            check=lambda held: versions.check(values["version"], held.updated_at),
        )

    if is_done(form, rename):
        messages.success(request, "Album saved.")
        return redirect("imagehost_album", album_id)
    tiles = [tile_of(file) for file in albums.kept_in(album)]
    decision = moderation.decision_about(album)
    context = {"album": album, "form": form, "tiles": tiles, "url": album.url, "decision": decision}
    response = render(request, "dashboard/imagehost/album.html", context)
    images = file_pages.origins_of(tiles[0].file) if tiles else ()
    response.headers[content_security.HEADER] = content_security.header(images=images)
    return response


@act("imagehost_albums")
def change_file(request: SignedInRequest, album_id: str, name: str) -> HttpResponse:
    """Move a file in the album by `places`, or take it out with `remove`."""
    form, owner, now = MoveForm(request.POST), request.user, timezone.now()
    if "remove" in request.POST:
        albums.remove(owner=owner, album_id=album_id, name=name, now=now)
        messages.success(request, "File removed from the album. It stays in your gallery.")
    elif form.is_valid():
        albums.move(owner=owner, album_id=album_id, name=name, places=form.cleaned_data["places"], now=now)
    else:
        raise Http404
    return redirect("imagehost_album", album_id)


@form_view
def reset_link(request: SignedInRequest, album_id: str) -> HttpResponse:
    album = _found(request, album_id)
    if request.method == "POST":
        albums.reset_link(owner=request.user, album_id=album_id, now=timezone.now())
        messages.success(request, "The album has a new link.")
        return redirect("imagehost_album", album_id)
    effects = ["Its current link no longer works.", "The album gets a new link, which you can share again."]
    back_url = reverse("imagehost_album", args=[album.pk])
    return confirm(request, f"Reset the link of {album.title}?", effects, "Reset the link", back_url=back_url)


@form_view
def delete_album(request: SignedInRequest, album_id: str) -> HttpResponse:
    album = _found(request, album_id)
    if request.method == "POST":
        albums.delete(owner=request.user, album_id=album_id)
        messages.success(request, f"Album {album.title} deleted.")
        return redirect("imagehost_albums")
    effects = ["Its page and its link no longer work.", "Its files stay in your gallery."]
    back_url = reverse("imagehost_album", args=[album.pk])
    return confirm(request, f"Delete the album {album.title}?", effects, "Delete the album", back_url=back_url)


def _found(request: SignedInRequest, album_id: str) -> Album:
    return get_object_or_404(albums.of(request.user).defer(None), pk=album_id)
