"""Quarantine: a file is no longer delivered, and its object moves to a new key in the store.

Links to the store, signed or public, work without this service, so imposing and lifting a quarantine both move the
object to a key that cannot be guessed. The row has both keys (`key`, `moves_from`) until the move is done;
`sweep_uploads` retries a failed move. A key is used once, so concurrent movers are harmless.
"""

from __future__ import annotations

import functools
import logging
import secrets

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User
from imagehost.models import FILES, QUARANTINE, File, PreviewState, preview_keys_of
from imagehost.storing import storage
from imagehost.storing.storage import ObjectMissing, StorageFailed

logger = logging.getLogger(__name__)


@transaction.atomic
def impose(*, file: File, by: User, reason: str) -> None:
    """Stop delivering a file, its page and its preview. It stays stored and counted.

    Delivery ends with the commit, links to the store right after it. The preview is removed and made again later.
    """
    row = File.objects.delivered().select_for_update().filter(pk=file.pk).first()
    if row is None:
        return
    audit.record("file:quarantined", by=by, on=row, reason=reason, owner=row.owner_id, key=row.key)
    row.quarantined_at = timezone.now()
    row.preview_state, row.preview_attempts, row.preview_due_at = PreviewState.WAITING, 0, timezone.now()
    row.preview_width = row.preview_height = None
    _move(row, f"{QUARANTINE}{secrets.token_hex(16)}-{row.file_name}")


@transaction.atomic
def lift(*, file: File, by: User, reason: str) -> None:
    """Lift the quarantine of a file. It is served as soon as its object has moved."""
    rows = File.objects.ready().filter(quarantined_at__isnull=False, moves_from="")
    row = rows.select_for_update().filter(pk=file.pk).first()
    if row is None:
        return
    audit.record("file:restored", by=by, on=row, reason=reason, owner=row.owner_id)
    row.quarantined_at = None
    _move(row, f"{FILES}{row.owner_id}/{secrets.token_hex(8)}-{row.file_name}")


def _move(row: File, key: str) -> None:
    """Save the locked row with its new key, and move the object after the commit."""
    row.moves_from, row.key = row.key, key
    row.save()
    transaction.on_commit(functools.partial(finish_move, row), robust=True)


def finish_move(file: File) -> bool:
    """Move the object from `moves_from` to `key`; whether that worked. Idempotent. 1 query.

    `sweep_uploads` retries it where the store does not answer.
    """
    bucket = storage.bucket()
    try:
        try:
            bucket.move(file.moves_from, file.key)
        except ObjectMissing:
            logger.info("%s is moved already, or was deleted.", file.pk)
        for key in preview_keys_of(file.moves_from):
            bucket.remove(key)
        if not File.objects.ready().filter(pk=file.pk, moves_from=file.moves_from).update(moves_from=""):
            _take_back(file)
    except StorageFailed as error:
        logger.error("The object of %s could not be moved; sweep_uploads will: %s.", file.pk, error)
        return False
    return True


def _take_back(file: File) -> None:
    """Remove the object of a file that was deleted while the object moved."""
    if not File.objects.ready().filter(pk=file.pk).exists():
        storage.bucket().remove(file.key)
