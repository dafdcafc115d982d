"""The last step of a deletion: the objects are removed, then the row."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Iterable

from django.db import transaction

from imagehost.models import File, State
from imagehost.storing import storage
from imagehost.storing.storage import StorageFailed

PATIENCE = 5.0  # seconds

logger = logging.getLogger(__name__)


def after_commit(files: Iterable[File]) -> None:
    """Remove the objects of these DELETED files after the commit.

    The request waits for it: after the first failure, or PATIENCE, the job removes the rest.
    """
    transaction.on_commit(functools.partial(_finish_some, tuple(files)), robust=True)


def finish(file: File) -> bool:
    """Remove the objects of a DELETED file and then its row; whether that worked. Idempotent. 1 query.

    `sweep_uploads` retries it where the store does not answer.
    """
    try:
        remove_objects(file)
    except StorageFailed as error:
        logger.error("The objects of %s could not be removed; sweep_uploads will: %s.", file.pk, error)
        return False
    File.objects.filter(pk=file.pk, state=State.DELETED).delete()
    return True


def _finish_some(files: Iterable[File]) -> None:
    give_up_at = time.monotonic() + PATIENCE
    for file in files:
        if not finish(file) or time.monotonic() > give_up_at:
            return


def remove_objects(file: File) -> None:
    """Remove the objects of the file and of its preview, if they exist. Raises StorageFailed."""
    bucket = storage.bucket()
    for key in file.object_keys:
        bucket.remove(key)
