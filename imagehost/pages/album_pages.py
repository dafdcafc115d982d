"""What the public page of an album shows, prepared for its template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.urls import reverse

from imagehost import names
from imagehost.folders import albums
from imagehost.models import Album, File, Folder
from imagehost.pages import file_pages
from imagehost.pages.file_pages import FilesPage, Tile, Ways
from lookup.page import embeds
from lookup.page.embeds import Code, Embedded


@dataclass(frozen=True)
class AlbumPage(FilesPage):
    """`is_private`: what it shows depends on a password that this visitor gave."""

    album: Album
    codes: list[Code]
    is_private: bool


def page_of_album(album: Album, number: str, *, may_see: Callable[[Folder], bool]) -> AlbumPage | None:
    """Return a page of the album, or None. 1 query. `may_see`: whether a folder is open to the visitor."""
    files = albums.files_of(album)
    page = file_pages.page_at(files, number)
    if page is None:
        return None
    # Messengers and their users share one card, so its picture needs no password.
    open_files = [file for file in files if not (file.folder and file.folder.is_password_enabled)]
    title = names.shown(album.title, otherwise="Album")
    card = file_pages.card_of_files(title, album.url, album.owner, open_files, len(files))
    embedded = Embedded(card.title, card.url)  # the codes show the card's picture and lead to the album
    if card.picture is not None:
        picture = card.picture
        embedded = replace(embedded, picture=picture.url, width=picture.width, height=picture.height)
    return AlbumPage(
        album=album,
        owner=album.owner.get_full_name(),
        username=album.owner.username,
        place=album.link,
        tiles=[_tile(file, may_see) for file in page],
        page=page,
        card=card,
        codes=embeds.codes(embedded),
        is_private=len(open_files) < len(files),
    )


def ways_in_album(link: str, file: File) -> Ways | None:
    """Return links to the neighbors of the file in the album with this link. 2 queries."""
    album = albums.find(link)
    held = [each.name for each in albums.files_of(album)] if album else []
    if file.name not in held:
        return None
    place = held.index(file.name)
    return Ways(link, held[place - 1] if place else "", next(iter(held[place + 1 :]), ""))


def _tile(file: File, may_see: Callable[[Folder], bool]) -> Tile:
    """Return a tile; one of a locked folder is named as its link is, without caption and preview."""
    tile = file_pages.tile(file, preview=reverse("file_preview", args=[file.name]))
    if file.folder is None or may_see(file.folder):
        return tile
    return replace(tile, title=file.file_name, caption="", duration="", src="", full="")
