"""Operations on stored files: names and captions, favorites, folders, expiry, deletion.

The last step of a deletion removes the objects, then the row.
"""

from __future__ import annotations

import hmac
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import audit, users
from accounts.models import EventType, User
from accounts.webhooks import outbox
from imagehost import names
from imagehost.models import MAX_ORIGINAL_LENGTH, File, FileDay, Folder, State
from imagehost.storing import quotas, storage
from imagehost.storing.storage import StorageFailed
from infrastructure import hashing

REMOVED_AT_ONCE = 100  # objects of a deleted account that the request removes; the job removes the rest
PATIENCE = 5.0  # seconds for which a request removes objects

logger = logging.getLogger(__name__)


@transaction.atomic
def delete(*, file: File, by: User | None, reason: str = "") -> bool:
    """Delete a stored file and release its bytes; whether it still existed.

    `by` None: the deletion link was used. The object is removed after the commit. Actions of staff are audited.
    """
    if not _end(file, State.READY):
        return False
    if by is not None and by.pk != file.owner_id:
        audit.record("file:deleted", by=by, on=file, reason=reason, owner=file.owner_id, size=file.size)
    return True


@transaction.atomic
def delete_all(*, owner: User, files: Sequence[File]) -> int:
    """Delete these of the owner's stored files; how many still existed. 4 queries.

    The lock on the owner's row serializes this with other deletions and uploads.
    """
    users.lock(owner.pk)
    rows = File.objects.ready().filter(owner=owner, pk__in=[file.pk for file in files])
    deleted = list(rows.select_for_update().order_by("pk"))
    if deleted:
        File.objects.filter(pk__in=[file.pk for file in deleted]).update(**_deleted())
        quotas.release(owner_id=owner.pk, size=sum(file.size for file in deleted))
        _remove_after_commit(deleted)
    return len(deleted)


@transaction.atomic
def set_expiry(*, owner: User, files: Sequence[File], expires_at: datetime | None) -> int:
    """Let the owner's files expire then, None: never; how many were changed. An expired file stays expired. 2 queries.

    The lock on the owner's row serializes this with other changes of several files.
    """
    users.lock(owner.pk)
    rows = File.objects.kept().filter(owner=owner, pk__in=[file.pk for file in files])
    return rows.update(expires_at=expires_at)


@transaction.atomic
def expire(*, files: Sequence[File], since: datetime) -> list[File]:
    """End those of the files that expired at `since` or before, release their bytes and tell the webhooks of their
    owners; return them. Their objects are left to `finish_deletion`. Idempotent.

    3 queries, 1 for each owner, and 1 more where there are webhooks.
    """
    rows = File.objects.filter(pk__in=[file.pk for file in files], state=State.READY, expires_at__lte=since)
    # Quarantine may have moved objects since `files` were read.
    expired = list(rows.select_for_update().order_by("pk"))
    sizes: defaultdict[str, int] = defaultdict(int)
    events = []
    for file in expired:
        if file.owner_id is not None:
            sizes[file.owner_id] += file.size
            events.append((file.owner_id, facts_of(file)))
    if expired:
        File.objects.filter(pk__in=[file.pk for file in expired]).update(**_deleted())
        for owner_id in sorted(sizes):
            quotas.release(owner_id=owner_id, size=sizes[owner_id])
        outbox.post_to_users(EventType.FILE_EXPIRED, events)
    return expired


def facts_of(file: File) -> dict[str, Any]:
    """Return what an event tells its owner of a file."""
    return {"id": str(file.pk), "folder": file.folder_id, "name": file.original_name, "url": file.url}


@transaction.atomic
def undo(*, file: File) -> bool:
    """Undo an unfinished upload: row, booking and object; whether it was still PENDING."""
    return _end(file, State.PENDING)


def is_deletion_token(file: File, token: str) -> bool:
    """Return whether `token` is the one of the file's deletion link, compared in constant time."""
    return hmac.compare_digest(file.deletion_hash, hashing.digest(token))


def set_favorite(*, file: File, is_favorite: bool) -> None:
    """Mark the file, or unmark it. 1 query."""
    File.objects.ready().filter(pk=file.pk).update(is_favorite=is_favorite)


@transaction.atomic
def describe(
    *, owner: User, file: File, name: str | None, caption: str, check: Callable[[File], None] | None = None
) -> None:
    """Set the caption of the owner's file and, unless None, the name that it came with; its address stays. 2 queries.

    Raises File.DoesNotExist, and ValidationError by argument. `check` gets the locked row; it may raise.
    """
    row = File.objects.kept().select_for_update(no_key=True).get(pk=file.pk, owner=owner)
    if check is not None:
        check(row)
    if name is not None:
        row.original_name = _valid("name", lambda: names.file_name(name, most=MAX_ORIGINAL_LENGTH))
    row.caption = _valid("caption", lambda: File._meta.get_field("caption").clean(" ".join(caption.split()), row))
    row.save(update_fields=["original_name", "original_name_folded", "caption"])


def _valid(argument: str, value: Callable[[], str]) -> str:
    """Return the value. Raises its ValidationError with the name of the argument."""
    try:
        return value()
    except ValidationError as problem:
        raise ValidationError({argument: problem}) from None


@transaction.atomic
def move(*, owner: User, files: Sequence[File], folder: Folder | None) -> int:
    """Move the owner's stored files into the owner's folder, None: the root; how many were moved.

    Folder.DoesNotExist: deleted, or another owner's. Locks the owner's row, the folder's, the files'.
    """
    users.lock(owner.pk)
    if folder is not None:
        folder = Folder.objects.select_for_update(no_key=True).get(pk=folder.pk, owner=owner)
    rows = File.objects.ready().filter(owner=owner, pk__in=[file.pk for file in files])
    return rows.update(folder=folder)


def delete_of_user(user: User) -> None:
    """Delete all files of a deleted account. A receiver of `user_deleted`.

    The caller has locked the user's row, so that no upload comes in between. The rows stay without an owner until
    their objects are removed, the first of them at once, the rest by the job.
    """
    owned = File.objects.filter(owner=user).order_by("pk")
    some = list(owned[:REMOVED_AT_ONCE])
    owned.update(**_deleted(), folder=None, owner=None)
    _remove_after_commit(some)


def _end(file: File, state: State) -> bool:
    """Move the row from `state` to DELETED and release its bytes; whether it was in `state`. 3 queries."""
    # Quarantine may have moved the object since `file` was read.
    row = File.objects.filter(pk=file.pk, state=state).select_for_update().first()
    if row is None or row.owner_id is None:
        return False
    File.objects.filter(pk=row.pk).update(**_deleted())
    quotas.release(owner_id=row.owner_id, size=row.size)
    _remove_after_commit([row])
    return True


def _deleted() -> dict[str, Any]:
    """Return the changed columns of a row that is DELETED now."""
    return {"state": State.DELETED, "deleted_at": timezone.now()}


def _remove_after_commit(files: Iterable[File]) -> None:
    """Remove the objects of these DELETED files after the commit.

    The request waits for it: after the first failure, or PATIENCE, the job removes the rest.
    """
    some = tuple(files)

    def finish_some() -> None:
        give_up_at = time.monotonic() + PATIENCE
        for file in some:
            if not finish_deletion(file) or time.monotonic() > give_up_at:
                return

    transaction.on_commit(finish_some, robust=True)


def finish_deletion(file: File) -> bool:
    """Remove the objects of a DELETED file and then its row with its days; whether that worked. Idempotent. 2 queries.

    `sweep_uploads` retries it where the store does not answer.
    """
    try:
        remove_objects(file)
    except StorageFailed as error:
        logger.error("The objects of %s could not be removed; sweep_uploads will: %s.", file.pk, error)
        return False
    FileDay.objects.filter(file=file.pk).delete()
    File.objects.filter(pk=file.pk, state=State.DELETED).delete()
    return True


def remove_objects(file: File) -> None:
    """Remove the objects of the file and of its preview, if they exist. Raises StorageFailed."""
    bucket = storage.bucket()
    for key in file.object_keys:
        bucket.remove(key)
