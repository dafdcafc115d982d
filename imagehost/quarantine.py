"""Quarantine: a file leaves delivery, and its object leaves the address that the store knows it by.

A link to the store works without us, signed or public, so both ways the object gets a new key that cannot be guessed.
The row names both keys (`key`, `moves_from`) until the move is done; a move that failed is done by `sweep_uploads`. A
key is used once: a slow mover finds nothing at the old one and harms nothing at the new one.
"""

from __future__ import annotations

import functools
import logging
import secrets

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User
from imagehost import storage
from imagehost.models import FILES, QUARANTINE, File, PreviewState, preview_key_of
from imagehost.storage import ObjectMissing, StorageFailed

logger = logging.getLogger(__name__)


@transaction.atomic
def impose(*, file: File, by: User, reason: str) -> None:
    """Take a file out of delivery, its page and preview with it. It stays stored and counted.

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
    """Put a file back from quarantine. It is served as soon as its object has moved."""
    rows = File.objects.ready().filter(quarantined_at__isnull=False, moves_from="")
    row = rows.select_for_update().filter(pk=file.pk).first()
    if row is None:
        return
    audit.record("file:restored", by=by, on=row, reason=reason, owner=row.owner_id)
    row.quarantined_at = None
    _move(row, f"{FILES}{row.owner_id}/{secrets.token_hex(8)}-{row.file_name}")


def _move(row: File, key: str) -> None:
    """Save the locked row with its new key, and move the object once the transaction holds."""
    row.moves_from, row.key = row.key, key
    row.save()
    transaction.on_commit(functools.partial(finish_move, row), robust=True)


def finish_move(file: File) -> bool:
    """Bring the object from `moves_from` to `key`; whether that worked. Harmless to repeat. 1 query.

    A store that does not answer keeps the row for the job `sweep_uploads`.
    """
    bucket = storage.bucket()
    try:
        try:
            bucket.move(file.moves_from, file.key)
        except ObjectMissing:
            logger.info("%s has been moved before, or was deleted.", file.pk)
        bucket.remove(preview_key_of(file.moves_from))
        if not File.objects.ready().filter(pk=file.pk, moves_from=file.moves_from).update(moves_from=""):
            _take_back(file)
    except StorageFailed:
        logger.exception("The object of %s could not be moved; it will be.", file.pk)
        return False
    return True


def _take_back(file: File) -> None:
    """The file was deleted while its object moved, which perhaps arrived after the deletion."""
    if not File.objects.ready().filter(pk=file.pk).exists():
        storage.bucket().remove(file.key)
