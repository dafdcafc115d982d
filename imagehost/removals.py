"""The last step of a deletion: the object goes, and then the row that knew of it."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Iterable

from django.db import transaction

from imagehost import storage
from imagehost.models import File, State
from imagehost.storage import StorageFailed

PATIENCE = 5.0  # seconds

logger = logging.getLogger(__name__)


def after_commit(files: Iterable[File]) -> None:
    """Remove what these DELETED files left, once the transaction holds.

    A request waits meanwhile: after the first failure, or when it takes long, the others are left to the job.
    """
    transaction.on_commit(functools.partial(_finish_some, tuple(files)), robust=True)


def finish(file: File) -> bool:
    """Remove the objects of a DELETED file and then its row; whether that worked. Harmless to repeat.

    A store that does not answer keeps the row for the job `sweep_uploads`. 1 query.
    """
    try:
        remove_objects(file)
    except StorageFailed:
        logger.exception("The objects of %s could not be removed; they will be.", file.pk)
        return False
    File.objects.filter(pk=file.pk, state=State.DELETED).delete()
    return True


def _finish_some(files: Iterable[File]) -> None:
    give_up_at = time.monotonic() + PATIENCE
    for file in files:
        if not finish(file) or time.monotonic() > give_up_at:
            return


def remove_objects(file: File) -> None:
    """The file's object and its preview's; no error where they are gone. Raises StorageFailed."""
    bucket = storage.bucket()
    for key in file.object_keys:
        bucket.remove(key)
