"""Creating, changing and deleting a user's folders.

Every operation locks its owner's row first, which serializes it with the owner's other operations and uploads: they
cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import users
from imagehost import names
from imagehost.errors import FolderExists, FolderNotFound, InvalidBody, Unauthorized
from imagehost.models import Folder

MAX_FOLDERS = 500  # of a user: their list has no pages


@dataclass(frozen=True)
class Changes:
    """Changes to a folder; None: unchanged. A new folder is private and has no password."""

    name: str | None = None
    is_public: bool | None = None
    is_password_enabled: bool | None = None
    password: str | None = None


def create(*, owner_id: str, changes: Changes, now: datetime) -> Folder:
    """Create a folder of the owner. 3 queries.

    InvalidBody: the name or password is invalid or missing, or there are MAX_FOLDERS already. FolderExists: the owner
    has one of this name. Unauthorized: the owner has been deleted.
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
    """Apply the changes to a folder. 3 queries.

    A folder that becomes private loses its password. InvalidBody, FolderExists, Unauthorized as above. FolderNotFound:
    unknown, or another owner's. `check` gets the locked folder before the change, and may raise.
    """
    changes = _checked(changes)
    password_hash = _hashed(changes)  # slow, so before the lock
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
    """Delete the folder and its rules; its files move to the root. 5 queries. Errors as above.

    A concurrent upload into the folder is booked before this and moved, or after it and routed again.
    """
    _lock_owner(owner_id)
    _found(owner_id, folder_id).delete()


def _lock_owner(owner_id: str) -> None:
    """Lock the owner's row. 1 query."""
    if not users.lock(owner_id):
        raise Unauthorized


def _found(owner_id: str, folder_id: str) -> Folder:
    """Return the folder, locked, also against new rows that refer to it. 1 query."""
    folder = Folder.objects.select_for_update().filter(pk=folder_id, owner_id=owner_id).first()
    if folder is None:
        raise FolderNotFound
    return folder


def _checked(changes: Changes) -> Changes:
    """Return the changes with the name as it is stored. Raises InvalidBody for an invalid name or password."""
    try:
        name = changes.name if changes.name is None else names.folder_name(changes.name)
    except ValidationError as problem:
        raise InvalidBody(f"folderName: {problem.message}") from None
    try:
        password = changes.password and names.folder_password(changes.password)
    except ValidationError as problem:
        raise InvalidBody(f"folderPassword: {problem.message}") from None
    return replace(changes, name=name, password=password)


def _apply(folder: Folder, changes: Changes, password_hash: str, now: datetime) -> None:
    """Apply the changes to the columns. Raises InvalidBody where they contradict each other."""
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
    """Return the password's hash; "" without a password."""
    return make_password(changes.password) if changes.password else ""
