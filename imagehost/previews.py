"""Previews: the small picture of each image and the poster of each video, made after the upload by `make_previews`.

Any number of runners may do this at once. A preview is written before the row says that it is there, and the row says
so only while the file is delivered; whoever finds it gone by then takes the preview away again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils import timezone

from imagehost import probing, storage
from imagehost.models import File, PreviewState
from imagehost.models.files import FileQuerySet
from imagehost.probing import InvalidMedia, ProberFailed
from imagehost.storage import ObjectMissing, StorageFailed

MIME = "image/webp"
BATCH = 50
# How long after the upload each try may be made: an outage of a minute must not use all of them up.
TRIES = (timedelta(0), timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))

logger = logging.getLogger(__name__)


@dataclass
class Work:
    """How many files got a preview, how many will have none, and how many have to be tried again."""

    made: int = 0
    given_up: int = 0
    postponed: int = 0


def make(*, until: datetime, after_each: Callable[[], None] = lambda: None) -> Work:
    """Make those that are due, the oldest uploads first, until none is left; none is begun after `until`.

    `after_each` is called after each file, for whoever holds a lease. 1 query where none is due; 1 query for each file,
    and 1 for each BATCH of them.
    """
    work = Work()
    for file in _due(timezone.now()):
        _make(file, work)
        after_each()
        if timezone.now() >= until:
            break
    return work


def _due(now: datetime) -> Iterator[File]:
    """Each file that waits, once."""
    is_time = Q()
    for attempts, pause in enumerate(TRIES):
        is_time |= Q(preview_attempts=attempts, uploaded_at__lte=now - pause)
    # `ready` and WAITING are the condition of the index `imagehost_file_without_preview`.
    rows = File.objects.delivered().filter(preview_state=PreviewState.WAITING).filter(is_time)
    following: FileQuerySet = rows
    while batch := list(following.order_by("uploaded_at", "pk")[:BATCH]):
        yield from batch
        if len(batch) < BATCH:
            return
        last = batch[-1]
        is_later = Q(uploaded_at__gt=last.uploaded_at) | Q(pk__gt=last.pk)
        following = rows.filter(is_later, uploaded_at__gte=last.uploaded_at)


def _make(file: File, work: Work) -> None:
    bucket = storage.bucket()
    try:
        with bucket.fetched(file.key) as path:
            preview = probing.render(path, file.media_type)
        bucket.keep_bytes(file.preview_key, preview.content, mime=MIME)
    except InvalidMedia as reason:
        logger.info("%s gets no preview: %s", file.key, reason)
        work.given_up += _give_up(file)
    except ObjectMissing:
        if _give_up(file):  # otherwise it was deleted meanwhile, as it may be
            logger.exception("%s gets no preview: there is no such object.", file.key)
            work.given_up += 1
    except (ProberFailed, StorageFailed):
        logger.warning("The preview of %s failed at try %s.", file.key, file.preview_attempts + 1, exc_info=True)
        _postpone(file, work)
    else:
        made = {"preview_width": preview.width, "preview_height": preview.height}
        if _delivered(file).update(preview_state=PreviewState.MADE, **made):
            work.made += 1
        else:
            _take_back(file)


def _give_up(file: File) -> int:
    """1, or 0 where the file is gone or another runner has made its preview."""
    return _waiting(file).update(preview_state=PreviewState.FAILED)


def _postpone(file: File, work: Work) -> None:
    """It is not the file's fault. After as many tries as there are it is left at that."""
    tried = file.preview_attempts + 1
    if tried < len(TRIES):
        work.postponed += _waiting(file).update(preview_attempts=F("preview_attempts") + 1)
    else:
        work.given_up += _waiting(file).update(preview_attempts=tried, preview_state=PreviewState.FAILED)


def _take_back(file: File) -> None:
    """The file was deleted or quarantined while its preview was made, which was perhaps written after that."""
    try:
        storage.bucket().remove(file.preview_key)
    except StorageFailed:
        logger.exception("%s belongs to nothing and could not be removed; reconcile_files will.", file.preview_key)


def _waiting(file: File) -> FileQuerySet:
    return _delivered(file).filter(preview_state=PreviewState.WAITING)


def _delivered(file: File) -> FileQuerySet:
    """The row, unless its file was deleted or quarantined meanwhile: a quarantined one has another key."""
    return File.objects.delivered().filter(pk=file.pk, key=file.key)
