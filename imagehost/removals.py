"""The last step of a deletion: the object goes, and then the row that knew of it."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable

from django.db import transaction

from imagehost import storage
from imagehost.models import File, State
from imagehost.storage import StorageFailed

logger = logging.getLogger(__name__)


def after_commit(files: Iterable[File]) -> None:
    """Remove what these DELETED files left, once the transaction holds."""
    for file in files:
        transaction.on_commit(functools.partial(finish, file), robust=True)


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


def remove_objects(file: File) -> None:
    """The file's object and its preview's; no error where they are gone. Raises StorageFailed."""
    bucket = storage.bucket()
    bucket.remove(file.key)
    bucket.remove(file.preview_key)
