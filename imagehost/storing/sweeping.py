"""Cleanup: expired files; after crashes and outages unfinished uploads, objects whose removal failed, incomplete files.

An upload leaves PENDING once, for READY or DELETED, by a conditional UPDATE, so it is either stored or swept up.
Several processes may sweep concurrently.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from imagehost.models import File, FileQuerySet, State
from imagehost.storing import files, quarantine, storage
from infrastructure.databases import batches

LONGEST_UPLOAD = timedelta(hours=1)
"""From the booking to the end of the write; for an incoming file, since its last byte."""
CLOCKS = timedelta(minutes=1)
"""How far the clocks of hosts may differ: until then another host may still serve a file that has expired here."""
BATCH = 200

logger = logging.getLogger(__name__)


@dataclass
class Swept:
    """How many uploads were undone, expired files deleted, deletions and moves finished, leftovers removed.

    `failed`: at the store.
    """

    expired: int = 0
    uploads: int = 0
    deletions: int = 0
    moves: int = 0
    leftovers: int = 0
    failed: int = 0


def sweep(*, now: datetime, until: datetime, after_each: Callable[[], None] = lambda: None) -> Swept:
    """Delete expired files, undo unfinished uploads, remove objects of deleted files, move objects of quarantined and
    restored files, and remove old incoming files.

    None is begun after `until`, as a store that does not answer delays each. `after_each` is called after each file, to
    renew a lease. Bytes are released even where the store fails. 5 queries for each upload (two less where the store
    fails), 2 for each expired file and 1 for each owner of those of a BATCH, 1 for each deleted and each moved file,
    and up to 5 for each BATCH.
    """
    swept = Swept()
    for batch in batches.in_order(File.objects.expired(now - CLOCKS), by="uploaded_at", size=BATCH):
        swept.expired += _expire(batch, now - CLOCKS, until, after_each)
    for file in _each(_unfinished(State.PENDING).filter(uploaded_at__lt=now - LONGEST_UPLOAD), until):
        if files.undo(file=file):
            logger.warning("The upload %s never ended and was taken back.", file.pk)
            swept.uploads += 1
        after_each()
    for file in _each(_unfinished(State.DELETED), until):  # also where the removal just failed
        if files.finish_deletion(file):
            swept.deletions += 1
        else:
            swept.failed += 1
        after_each()
    for file in _each(File.objects.moving().ready(), until):
        if quarantine.finish_move(file):
            swept.moves += 1
        else:
            swept.failed += 1
        after_each()
    swept.leftovers = storage.sweep(before=now - LONGEST_UPLOAD)
    return swept


def _unfinished(state: State) -> FileQuerySet:
    """Return the files in state PENDING or DELETED."""
    # SQLite uses the index `imagehost_file_unfinished` only where its condition is repeated literally.
    return File.objects.exclude(state=State.READY).filter(state=state)


def _expire(batch: list[File], since: datetime, until: datetime, after_each: Callable[[], None]) -> int:
    """Expire the files and remove their objects; return how many expired. A removal that fails is left to `sweep`."""
    if timezone.now() >= until:
        return 0
    expired = files.expire(files=batch, since=since)
    after_each()
    for file in expired:
        if timezone.now() >= until or not files.finish_deletion(file):
            break
        after_each()
    return len(expired)


def _each(rows: FileQuerySet, until: datetime) -> Iterator[File]:
    """Yield the files, the oldest first, none after `until`."""
    for batch in batches.in_order(rows, by="uploaded_at", size=BATCH):
        for file in batch:
            if timezone.now() >= until:
                return
            yield file
