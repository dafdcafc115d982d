"""What happens to files after their upload: favourites, folders, deletion."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts import audit, hashing, users
from accounts.models import User
from imagehost import quotas, removals
from imagehost.models import File, Folder, State

REMOVED_AT_ONCE = 100  # objects of a deleted account, while the request waits


@transaction.atomic
def delete(*, file: File, by: User | None, reason: str = "") -> bool:
    """Take a stored file away for good; whether it was still there. Its bytes are given back in the same step.

    `by` None: the deletion link was used. The object goes after the commit. Staff acts are audited.
    """
    if not _end(file, State.READY):
        return False
    if by is not None and by.pk != file.owner_id:
        audit.record("file:deleted", by=by, on=file, reason=reason, owner=file.owner_id, size=file.size)
    return True


@transaction.atomic
def delete_all(*, owner: User, files: Sequence[File]) -> int:
    """Take those of the owner's stored files away, who asks for it; how many there still were. 4 queries.

    Locks the owner's row first: two such acts, and an upload, come one after the other.
    """
    users.lock(owner.pk)
    rows = File.objects.ready().filter(owner=owner, pk__in=[file.pk for file in files])
    gone = list(rows.select_for_update().order_by("pk"))
    if gone:
        File.objects.filter(pk__in=[file.pk for file in gone]).update(**_deleted(timezone.now()))
        quotas.release(owner_id=owner.pk, size=sum(file.size for file in gone))
        removals.after_commit(gone)
    return len(gone)


@transaction.atomic
def undo(*, file: File) -> bool:
    """Take back an upload that did not end, row, booking and object; whether it was still PENDING."""
    return _end(file, State.PENDING)


def is_deletion_token(file: File, token: str) -> bool:
    """Whether `token` is the one of the file's deletion link. Takes the same time for every answer."""
    return hmac.compare_digest(file.deletion_hash, hashing.digest(token))


def set_favorite(*, file: File, is_favorite: bool) -> None:
    """Of a stored file of the caller's. 1 query."""
    File.objects.ready().filter(pk=file.pk).update(is_favorite=is_favorite)


@transaction.atomic
def move(*, owner: User, files: Sequence[File], folder: Folder | None) -> int:
    """Put the owner's stored files into a folder of the owner's, None the root; how many there were to move.

    Folder.DoesNotExist: of another owner, or deleted meanwhile. Locks the owner's row, the folder's, the files'.
    """
    users.lock(owner.pk)
    if folder is not None:
        folder = Folder.objects.select_for_update(no_key=True).get(pk=folder.pk, owner=owner)
    rows = File.objects.ready().filter(owner=owner, pk__in=[file.pk for file in files])
    return rows.update(folder=folder)


def delete_of_user(user: User) -> None:
    """The account goes: all of its files do. A receiver of `user_deleted`.

    The user's row is locked there, so that no upload comes in between. The rows stay without an owner until their
    objects are removed; beyond the first of them the job does that.
    """
    gone = File.objects.filter(owner=user).order_by("pk")
    some = list(gone[:REMOVED_AT_ONCE])
    gone.update(**_deleted(timezone.now()), folder=None, owner=None)
    removals.after_commit(some)


def _end(file: File, state: State) -> bool:
    """Move the row from `state` to DELETED, once, and give its bytes back. 2 queries."""
    if file.owner_id is None or not File.objects.filter(pk=file.pk, state=state).update(**_deleted(timezone.now())):
        return False
    quotas.release(owner_id=file.owner_id, size=file.size)
    removals.after_commit([file])
    return True


def _deleted(now: datetime) -> dict[str, Any]:
    """The columns of a DELETED row; their types differ."""
    return {"state": State.DELETED, "deleted_at": now}
