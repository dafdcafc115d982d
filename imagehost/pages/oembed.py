"""oEmbed answers for files, albums and folders: what their pages offer as codes, for everybody without a password."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from imagehost import names
from imagehost.folders import albums
from imagehost.models import File
from imagehost.pages import album_pages, file_pages
from imagehost.pages.file_pages import Card
from lookup.page import embeds, oembed
from lookup.page.embeds import Embedded
from lookup.page.oembed import Json, Room


def of_file(name: str, room: Room, now: datetime) -> Json | None:
    """Return the answer for a file, a photo or a video; None where visitors see none. 1 query."""
    file = file_pages.find_file(name)
    if file is None or file.owner is None or (file.folder is not None and file.folder.is_password_enabled):
        return None
    title = file.caption or names.shown(file.original_name, otherwise=file.file_name)
    width, height = room.fitted(file.width, file.height)
    if file.media_type.is_video:
        poster = file_pages.picture_of(file)
        shown = Embedded(
            title, file.page_url, picture=poster.url if poster else "", film=file.url, width=width, height=height
        )
        small = oembed.thumbnail(poster.url, poster.width, poster.height, room) if poster else {}
        return _answer("video", title, file.owner, html=embeds.html(shown), width=width, height=height, **small)
    small = _preview(file, room)
    return _answer("photo", title, file.owner, url=file.url, width=width, height=height, **small)


def of_album(link: str, room: Room, now: datetime) -> Json | None:
    """Return the answer for an album; None where visitors see none. 2 queries."""
    album = albums.find(link)
    page = album and album_pages.page_of_album(album, "1", may_see=lambda folder: not folder.is_password_enabled)
    return _of_list(page.card, album.owner, room) if album and page else None


def of_folder(folder_id: str, room: Room, now: datetime) -> Json | None:
    """Return the answer for a public folder without a password, else None. 3 queries."""
    folder = file_pages.find_folder(folder_id, viewer=AnonymousUser())
    page = file_pages.page_of_folder(folder, "1") if folder and not folder.is_password_enabled else None
    return _of_list(page.card, folder.owner, room) if folder and page else None


def _of_list(card: Card, owner: User, room: Room) -> Json:
    """Return the answer for a list of files: its first picture, which leads to it, or only a link."""
    if card.picture is None:
        return _answer("link", card.title, owner)
    width, height = room.fitted(card.picture.width, card.picture.height)
    shown = Embedded(card.title, card.url, picture=card.picture.url, width=width, height=height)
    return _answer("rich", card.title, owner, html=embeds.html(shown), width=width, height=height)


def _preview(file: File, room: Room) -> Json:
    picture = file_pages.picture_of(file)
    return oembed.thumbnail(picture.url, picture.width, picture.height, room) if picture else {}


def _answer(kind: str, title: str, owner: User, **parts: object) -> Json:
    return oembed.answer(kind, title, owner.get_full_name(), owner.username, **parts)
