"""Albums: lists of a user's files that are shared by a link.

An album holds the ids of its files in their order. Ids of files that no longer exist are passed over when it is read,
and dropped when its files are changed. Every operation locks its owner's row first, then the album.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from accounts import audit, users
from accounts.models import User
from accounts.models.users import new_id
from imagehost import names
from imagehost.models import MAX_TITLE_LENGTH, Album, File

MAX_ALBUMS = 100  # of a user
MAX_FILES = 500  # of an album
_LINK = re.compile(r"[0-9a-f]{32}", re.ASCII)


def of(owner: User) -> QuerySet[Album]:
    """Return the owner's albums without the ids of their files, newest first."""
    return Album.objects.filter(owner=owner).defer("file_ids").order_by("-created_at", "pk")


def find(link: str, *, is_taken_down: bool = False) -> Album | None:
    """Return the album with this link, with its owner; None for an unknown link, a banned owner, and where staff have
    taken it down: such ones are found by `is_taken_down`.

    1 query, none for a malformed link.
    """
    if not _LINK.fullmatch(link):
        return None
    rows = Album.objects.filter(link=link, owner__is_active=True, quarantined_at__isnull=not is_taken_down)
    return rows.select_related("owner").first()


def files_of(album: Album) -> list[File]:
    """Return the files that everybody with the link sees listed, in their order, with their folders. 1 query."""
    rows = File.objects.delivered().filter(owner_id=album.owner_id, pk__in=album.file_ids)
    return _in_order(album, rows.select_related("folder"))


def kept_in(album: Album) -> list[File]:
    """Return the files that the owner sees, quarantined ones included. 1 query."""
    rows = File.objects.kept().filter(owner_id=album.owner_id, pk__in=album.file_ids)
    return _in_order(album, rows.select_related("folder"))


@transaction.atomic
def create(*, owner: User, title: str, files: Iterable[File], now: datetime) -> Album:
    """Create an album of these of the owner's files. 4 queries. ValidationError: its title, or a limit."""
    users.lock(owner.pk)
    if Album.objects.filter(owner=owner).count() >= MAX_ALBUMS:
        raise ValidationError(f"You have {MAX_ALBUMS} albums, the maximum. Delete one to create another.")
    album = Album(owner=owner, title=title_of(title), created_at=now)
    _save(album, [file.pk for file in files if file.owner_id == owner.pk], now)
    return album


@transaction.atomic
def change(
    *, owner: User, album_id: str, title: str, now: datetime, check: Callable[[Album], None] | None = None
) -> Album:
    """Change its title. Album.DoesNotExist: unknown, or another owner's. `check` gets the locked row; it may raise."""
    album = _locked(owner, album_id)
    if check is not None:
        check(album)
    album.title = title_of(title)
    _save(album, album.ids(), now)
    return album


@transaction.atomic
def add(*, owner: User, album_id: str, files: Sequence[File], now: datetime) -> int:
    """Add these of the owner's files at the end; how many it did not hold before. Errors as above."""
    album = _locked(owner, album_id)
    held = [file.pk for file in kept_in(album)]
    new = [file.pk for file in files if file.owner_id == owner.pk and file.pk not in set(held)]
    _save(album, held + new, now)
    return len(new)


@transaction.atomic
def move(*, owner: User, album_id: str, name: str, places: int, now: datetime) -> None:
    """Move the file of this name up (`places` negative) or down, at most to an end. File.DoesNotExist: not in it."""
    album = _locked(owner, album_id)
    held = kept_in(album)
    at = _place_of(name, held)
    file = held.pop(at)
    held.insert(max(0, at + places), file)
    _save(album, [each.pk for each in held], now)


@transaction.atomic
def remove(*, owner: User, album_id: str, name: str, now: datetime) -> None:
    """Take the file of this name out of the album; it stays stored. File.DoesNotExist: not in it."""
    album = _locked(owner, album_id)
    held = kept_in(album)
    held.pop(_place_of(name, held))
    _save(album, [each.pk for each in held], now)


@transaction.atomic
def reset_link(*, owner: User, album_id: str, now: datetime) -> Album:
    """Give the album another link; the old one is 404 from then on."""
    album = _locked(owner, album_id)
    album.link = new_id()
    _save(album, album.ids(), now)
    return album


@transaction.atomic
def delete(*, owner: User, album_id: str) -> None:
    """Delete the album; its files stay."""
    _locked(owner, album_id).delete()


@transaction.atomic
def delete_by_staff(*, album: Album, by: User, reason: str) -> None:
    """Delete an album as staff, audited. Does nothing where it is deleted already."""
    users.lock(album.owner_id)
    row = Album.objects.select_for_update().filter(pk=album.pk).first()
    if row is None:
        return
    audit.record("album:deleted", by=by, on=row, reason=reason, owner=row.owner_id, files=len(row.file_ids))
    row.delete()


def title_of(text: str) -> str:
    """Return the title as it is stored. Raises ValidationError."""
    try:
        return names.one_line(text, most=MAX_TITLE_LENGTH)
    except ValidationError as problem:
        raise ValidationError({"title": problem}) from None


def _locked(owner: User, album_id: str) -> Album:
    """Return the album, its owner's row locked. 2 queries. Album.DoesNotExist: unknown, or another owner's."""
    users.lock(owner.pk)
    return Album.objects.select_for_update().get(pk=album_id, owner=owner)


def _save(album: Album, file_ids: Sequence[UUID], now: datetime) -> None:
    """Store the album's files. Raises ValidationError for too many."""
    if len(file_ids) > MAX_FILES:
        raise ValidationError(f"An album holds at most {MAX_FILES} files.")
    album.file_ids = [file_id.hex for file_id in file_ids]
    album.updated_at = now
    album.save()


def _in_order(album: Album, rows: Iterable[File]) -> list[File]:
    places = {file_id: place for place, file_id in enumerate(album.file_ids)}
    return sorted(rows, key=lambda file: places[file.pk.hex])


def _place_of(name: str, held: Sequence[File]) -> int:
    place = next((place for place, file in enumerate(held) if file.name == name), None)
    if place is None:
        raise File.DoesNotExist
    return place
