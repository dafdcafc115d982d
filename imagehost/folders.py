"""Folders of a user: made, changed, taken away.

Every operation locks its owner's row first, so what concerns one user happens one after the other. A new folder of the
name of another one, two folders that swap names, uploads into a folder that goes away: none waits for the other twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from accounts import users
from imagehost import names
from imagehost.errors import FolderExists, FolderNotFound, InvalidBody, Unauthorized
from imagehost.models import Folder

MAX_FOLDERS = 500  # of a user: lists of them are not paged


@dataclass(frozen=True)
class Changes:
    """What is said of a folder; None: nothing, it stays as it is. A new folder is private and has no password."""

    name: str | None = None
    is_public: bool | None = None
    is_password_enabled: bool | None = None
    password: str | None = None


def create(*, owner_id: str, changes: Changes, now: datetime) -> Folder:
    """A new folder of the owner's, who asks for it. 3 queries.

    InvalidBody: the name or the password is not allowed, or missing, or there are MAX_FOLDERS already. FolderExists:
    the owner has one of this name. Unauthorized: the owner has gone meanwhile.
    """
    if changes.name is None:
        raise InvalidBody("folderName: This field is required.")
    changes = _checked(changes)
    folder = Folder(owner_id=owner_id, created_at=now)
    _apply(folder, changes, _hashed(changes), now)
    try:
        with transaction.atomic():
            _lock_owner(owner_id)
            if Folder.objects.filter(owner_id=owner_id).count() >= MAX_FOLDERS:
                raise InvalidBody(f"folderName: A user has at most {MAX_FOLDERS} folders.")
            folder.save(force_insert=True)
    except IntegrityError:
        raise FolderExists from None
    return folder


def change(
    *,
    owner_id: str,
    folder_id: str,
    changes: Changes,
    now: datetime,
    check: Callable[[Folder], None] | None = None,
) -> Folder:
    """Change what is said of it, and nothing else. 3 queries.

    A folder that is private from now on loses its password. InvalidBody, FolderExists, Unauthorized as above.
    FolderNotFound: there is none, or it has another owner. `check` sees the locked folder as it was, and may raise.
    """
    changes = _checked(changes)
    password_hash = _hashed(changes)  # takes long: no lock is held yet
    try:
        with transaction.atomic():
            _lock_owner(owner_id)
            folder = _found(owner_id, folder_id)
            if check is not None:
                check(folder)
            if changes != Changes():
                _apply(folder, changes, password_hash, now)
                folder.save(force_update=True)
    except IntegrityError:
        raise FolderExists from None
    return folder


@transaction.atomic
def delete(*, owner_id: str, folder_id: str) -> None:
    """Take the folder and its rules away; its files move to the root. 5 queries. Errors as above.

    An upload that is on its way into the folder comes before this and is moved, or after it and is routed anew.
    """
    _lock_owner(owner_id)
    _found(owner_id, folder_id).delete()


def _lock_owner(owner_id: str) -> None:
    """1 query."""
    if not users.lock(owner_id):
        raise Unauthorized


def _found(owner_id: str, folder_id: str) -> Folder:
    """The folder, held until the end of the transaction, also against new rows that name it. 1 query."""
    folder = Folder.objects.select_for_update().filter(pk=folder_id, owner_id=owner_id).first()
    if folder is None:
        raise FolderNotFound
    return folder


def _checked(changes: Changes) -> Changes:
    """With the name as it is kept. InvalidBody: it or the password is not allowed, whatever folder it is for."""
    try:
        name = changes.name if changes.name is None else names.folder_name(changes.name)
    except ValueError as problem:
        raise InvalidBody(f"folderName: {problem}") from None
    try:
        password = changes.password and names.folder_password(changes.password)
    except ValueError as problem:
        raise InvalidBody(f"folderPassword: {problem}") from None
    return replace(changes, name=name, password=password)


def _apply(folder: Folder, changes: Changes, password_hash: str, now: datetime) -> None:
    """Set the columns to what the changes make of them. InvalidBody: they do not fit together."""
    if changes.name is not None:
        folder.name = changes.name
    if changes.is_public is not None:
        folder.is_public = changes.is_public
    is_enabled = changes.is_password_enabled
    if is_enabled is None:
        is_enabled = folder.is_password_enabled and folder.is_public
    if is_enabled and not folder.is_public:
        raise InvalidBody("folderPasswordEnabled: Only a public folder can have a password.")
    if password_hash and not is_enabled:
        raise InvalidBody("folderPassword: Is allowed only with folderPasswordEnabled.")
    if is_enabled and (changes.password == "" or not (password_hash or folder.password_hash)):
        raise InvalidBody(f"folderPassword: Needs 1 to {names.MAX_LENGTH} characters.")
    folder.password_hash = (password_hash or folder.password_hash) if is_enabled else ""
    folder.updated_at = now


def _hashed(changes: Changes) -> str:
    """Of the password; "" where none is said."""
    return make_password(changes.password) if changes.password else ""
