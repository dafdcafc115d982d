"""Comparison of booked bytes, rows and stored objects, once a night.

It goes owner by owner, in parts of about PART files: what the store lists for these owners is compared with their rows.
The progress is in the database, so that the next run on any host continues an interrupted one, and memory holds the
keys of one part. Objects without a file are removed at the end, when their share of all objects is known.

Concurrent uploads and deletions are no difference: a row is inserted before its object and deleted after it, the rows
are read after the store's list, and everything younger than GRACE is left out.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from django.core.exceptions import SuspiciousFileOperation
from django.db import transaction
from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from imagehost.models import (
    FILES,
    KEY_LENGTH,
    NAME_LENGTH,
    PREVIEWS,
    QUARANTINE,
    File,
    FileQuerySet,
    PreviewState,
    Reconciliation,
    Stage,
    State,
    StrayObject,
    Usage,
)
from imagehost.storing import previews, quotas, storage
from imagehost.storing.storage import Entry, ObjectMissing, StorageFailed
from infrastructure.databases import batches

GRACE = timedelta(hours=24)
PART = 50_000  # files, and the rest of the last one's owner
CHUNK = 1000  # keys looked up at a time
MOST_NAMED = 1000  # keys of missing or damaged files in the result
FEW = 50  # objects without a file that are removed at any share; more only up to a quarter of all objects
PATIENCE = 5  # consecutive failed removals
_QUARANTINED_PREVIEWS = f"{PREVIEWS}{QUARANTINE}"
LONGEST = timedelta(days=7)  # an older comparison starts again: its first counts are outdated
STRAYS_KEPT = 200_000  # objects without a file that one comparison removes; the next one removes the rest

logger = logging.getLogger(__name__)


class Overtaken(Exception):
    """Another run has continued the comparison: stop."""


@dataclass
class Comparison:
    """The result of a comparison.

    `recounted`: users whose usage was wrong. `removed`: objects without a file; `left`: such objects that still exist,
    because they are removed at the end, were too many, or the store refused; `spared`: such objects after a restore.
    `missing`, `damaged`: keys of stored files without an object, or with one of another size. An operator decides about
    these and the spared ones. `remade`: previews that will be made again. Not `is_finished`: the next run continues.
    """

    objects: int = 0
    recounted: int = 0
    removed: int = 0
    left: int = 0
    spared: int = 0
    is_suspicious: bool = False
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    remade: int = 0
    is_finished: bool = True


def reconcile(
    *,
    now: datetime,
    until: datetime | None = None,
    is_after_restore: bool = False,
    may_remove_many: bool = False,
    after_batch: Callable[[], None] = lambda: None,
) -> Comparison:
    """Correct what can be corrected without losing a file, and report the other differences.

    Continues an interrupted comparison; no part begins after `until`. `is_after_restore`: files of the last GRACE are
    compared too, every failed preview is tried once more, and objects without a file stay, as they may be younger than
    the backup. More such objects than FEW and a quarter of all, over all parts and runs, suggest another database's
    bucket: none is removed unless `may_remove_many`. `after_batch` is called at intervals, to renew a lease. Raises
    StorageFailed where the store cannot be listed, and Overtaken where another run compares concurrently.
    """
    run = _resume(now=now, is_after_restore=is_after_restore, after_batch=after_batch)
    found = run.found
    while run.row.stage != Stage.REMOVAL:
        run.compare_next_part()
        if until is not None and timezone.now() >= until:
            found.is_finished = False
            return found
    # By all parts together: one part is no measure of the bucket.
    is_suspicious = not may_remove_many and found.left + found.removed > max(FEW, found.objects // 4)
    if run.row.is_after_restore and not may_remove_many:
        found.spared, found.left = found.left, 0
    elif is_suspicious:
        logger.error(
            "%s of %s objects have no file and were left alone: is it the right bucket?", found.left, found.objects
        )
        found.is_suspicious = True
    else:
        run.remove_strays()
    _end(after_batch)
    return found


def _resume(*, now: datetime, is_after_restore: bool, after_batch: Callable[[], None]) -> _Run:
    """Return the interrupted comparison, else a new one.

    `is_after_restore` needs a comparison that began with it; one that did stays so. 1 query, or 3.
    """
    row = Reconciliation.objects.filter(pk=Reconciliation.THE_ROW).first()
    if row is not None and row.started_at > now - LONGEST and (row.is_after_restore or not is_after_restore):
        return _Run(row, Comparison(**row.found), now, after_batch)
    _end(after_batch)
    found = Comparison()
    row = Reconciliation(
        pk=Reconciliation.THE_ROW, started_at=now, is_after_restore=is_after_restore, found=asdict(found)
    )
    row.save(force_insert=True)
    return _Run(row, found, now, after_batch)


def _end(after_batch: Callable[[], None]) -> None:
    """Delete the finished comparison. 2 queries, and 1 for each batch of keys."""
    batches.delete(StrayObject.objects.all(), by="key", after_batch=after_batch)
    Reconciliation.objects.filter(pk=Reconciliation.THE_ROW).delete()


@dataclass
class _Run:
    """A comparison. `found`: the sum of its parts over all runs; `save` ends a part.

    `listed`: the keys of the part that the store lists and that belong to a row.
    """

    row: Reconciliation
    found: Comparison
    now: datetime
    after_batch: Callable[[], None]
    listed: set[str] = field(default_factory=set)

    def save(self, stage: Stage, *, done_until: str = "") -> None:
        """Store where the next part begins. Raises Overtaken where another run has saved one. 1 query."""
        mine = Reconciliation.objects.filter(pk=self.row.pk, parts=self.row.parts, started_at=self.row.started_at)
        values = {"stage": stage, "done_until": done_until, "parts": self.row.parts + 1, "found": asdict(self.found)}
        if not mine.update(**values):
            raise Overtaken("Another run has continued this comparison.")
        for name, value in values.items():
            setattr(self.row, name, value)

    def compare_next_part(self) -> None:
        """Compare the next owners, or after the last of them the files in quarantine, whose keys name no owner."""
        self.listed = set()
        if self.row.stage == Stage.QUARANTINE:
            self._compare_objects(QUARANTINE, _files, storage.bucket().entries(QUARANTINE))
            self._compare_objects(PREVIEWS, _previews, storage.bucket().entries(_QUARANTINED_PREVIEWS))
            rows = _at_rest().filter(quarantined_at__isnull=False)
            self._compare_rows(rows.order_by("pk"), lambda file: Q(pk__gt=file.pk))
            self.save(Stage.REMOVAL)
            return
        after = self.row.done_until
        last = _last_owner_of_part(after)
        owners = {"owner_id__gt": after, **({"owner_id__lte": last} if last else {})}
        self.found.recounted += _recount(owners, self.after_batch)
        for prefix, stored in ((FILES, _files), (PREVIEWS, _previews)):
            # All keys of an owner begin with the id and a slash; the next character behind the slash is 0.
            bounds = {"after": f"{prefix}{after}0" if after else "", "until": f"{prefix}{last}0" if last else ""}
            entries = storage.bucket().entries(prefix, **bounds)
            self._compare_objects(
                prefix, stored, (entry for entry in entries if not entry.key.startswith(_QUARANTINED_PREVIEWS))
            )
        rows = _at_rest().filter(quarantined_at__isnull=True, **owners)
        self._compare_rows(rows.order_by("owner_id", "-uploaded_at", "-id"), _after_in_gallery)
        self.save(Stage.OWNERS if last else Stage.QUARANTINE, done_until=last)

    def _compare_objects(
        self, prefix: str, stored: Callable[[Sequence[str]], dict[str, File]], entries: Iterator[Entry]
    ) -> None:
        """Note the objects with and without a row, and the files whose object has another size."""
        objects = (entry for entry in entries if not entry.key.endswith("/"))  # S3's "folders"
        while chunk := list(itertools.islice(objects, CHUNK)):
            self.found.objects += len(chunk)
            rows = stored([entry.key for entry in chunk])
            self.listed.update(rows)
            before = self.now - GRACE
            self._note_strays([entry.key for entry in chunk if entry.key not in rows and entry.changed_at < before])
            for entry in chunk if prefix != PREVIEWS else ():
                file = rows.get(entry.key)
                if file and file.state == State.READY and file.size != entry.size:
                    logger.error("The object %s has %s bytes, not %s.", entry.key, entry.size, file.size)
                    self.found.damaged += [entry.key][: MOST_NAMED - len(self.found.damaged)]
            self.after_batch()

    def _note_strays(self, keys: Sequence[str]) -> None:
        """Note objects without a file, to remove them at the end. Idempotent for each key."""
        self.found.left += len(keys)
        noted = [StrayObject(key=key) for key in keys if len(key) <= KEY_LENGTH]
        if noted and self.found.left <= STRAYS_KEPT:
            StrayObject.objects.bulk_create(noted, ignore_conflicts=True)

    def _compare_rows(self, rows: FileQuerySet, behind: Callable[[File], Q]) -> None:
        """Collect stored files whose object the store did not list, and previews that have to be made again."""
        before = self.now if self.row.is_after_restore else self.now - GRACE
        rows = rows.filter(uploaded_at__lt=before).only(
            "key", "owner_id", "uploaded_at", "preview_state", "preview_attempts"
        )
        following = rows
        while chunk := list(following[:CHUNK]):
            missing = [file for file in chunk if file.key not in self.listed]
            confirmed = itertools.islice(_confirmed(missing), MOST_NAMED - len(self.found.missing))
            self.found.missing += confirmed
            self._remake_previews([file for file in chunk if file.key in self.listed])
            self.after_batch()
            if len(chunk) < CHUNK:
                break
            following = rows.filter(behind(chunk[-1]))

    def _remake_previews(self, files: Sequence[File]) -> None:
        made = [file for file in files if file.preview_state == PreviewState.MADE]
        if lost := [file.pk for file in made if file.preview_key not in self.listed]:
            blank = {"preview_attempts": 0, "preview_width": None, "preview_height": None}
            there = File.objects.ready().filter(pk__in=lost, preview_state=PreviewState.MADE)
            self.found.remade += there.update(preview_state=PreviewState.WAITING, **blank)
        is_after_restore = self.row.is_after_restore
        failed = [file for file in files if previews.may_be_tried_again(file, is_after_restore=is_after_restore)]
        if failed:
            self.found.remade += previews.try_again(failed)

    def remove_strays(self) -> None:
        """Remove the objects that were noted. A failure leaves the object to the next comparison, which finds it."""
        found = self.found
        failed_in_a_row = 0
        while keys := list(StrayObject.objects.order_by("key").values_list("key", flat=True)[:CHUNK]):
            # A run that was interrupted may have noted them days ago.
            rows = _files(keys) | _previews([key for key in keys if key.startswith(PREVIEWS)])
            found.left -= len(rows)
            for key in [key for key in keys if key not in rows]:
                try:
                    storage.bucket().remove(key)
                except (StorageFailed, SuspiciousFileOperation):
                    logger.exception("The object %s has no file, but could not be removed.", key)
                    failed_in_a_row += 1
                    if failed_in_a_row == PATIENCE:
                        return
                else:
                    logger.warning("Removed the object %s, which has no file.", key)
                    found.removed += 1
                    found.left -= 1
                    failed_in_a_row = 0
                self.after_batch()
            with transaction.atomic():
                StrayObject.objects.filter(pk__in=keys).delete()
                self.save(Stage.REMOVAL)


def _last_owner_of_part(after: str) -> str:
    """Return the owner of the part's last file; empty where fewer than PART files are left. 1 query, of an index."""
    owners = File.objects.filter(owner_id__gt=after).order_by("owner_id").values_list("owner_id", flat=True)
    return next(iter(owners[PART - 1 : PART]), None) or ""


def _after_in_gallery(file: File) -> Q:
    """Return the condition of rows behind `file` in the order of the gallery's index."""
    is_older = Q(uploaded_at__lt=file.uploaded_at) | Q(uploaded_at=file.uploaded_at, pk__lt=file.pk)
    return Q(owner_id__gte=file.owner_id) & (Q(owner_id__gt=file.owner_id) | is_older)


def _recount(owners: dict[str, str], after_batch: Callable[[], None]) -> int:
    """Return how many of these owners had a wrong usage. Each such owner is locked and counted again."""
    without = File.objects.booked().filter(owner__imagehost_usage__isnull=True, **owners)
    missing = without.order_by("owner_id").values_list("owner_id", flat=True).distinct()
    Usage.objects.bulk_create([Usage(owner_id=owner_id) for owner_id in missing], ignore_conflicts=True)
    actual = Coalesce(Sum("owner__files__size", filter=~Q(owner__files__state=State.DELETED)), 0)
    wrong = Usage.objects.filter(**owners).annotate(actual=actual).exclude(actual=F("used_bytes")).order_by("pk")
    recounted = 0
    for owner_id in list(wrong.values_list("pk", flat=True)):
        with transaction.atomic():
            difference = quotas.recount(owner_id=owner_id)
        if difference:
            logger.error("The usage of %s was wrong by %s bytes and is counted anew.", owner_id, difference)
            recounted += 1
        after_batch()
    return recounted


def _files(keys: Sequence[str]) -> dict[str, File]:
    """Return the rows of these objects, by key or by the key it moves from. 1 query; 2 with strays."""
    rows = File.objects.only("key", "moves_from", "state", "size")
    found = {file.key: file for file in rows.filter(key__in=keys)}
    if strays := set(keys) - found.keys():
        found |= {file.moves_from: file for file in rows.moving().filter(moves_from__in=strays)}
    return found


def _previews(keys: Sequence[str]) -> dict[str, File]:
    """Return the files of these keys of previews, which contain only the name. 1 query."""
    names = [key.rpartition(".")[0][-NAME_LENGTH:].upper() for key in keys]
    wanted = set(keys)
    rows = File.objects.filter(name__upper__in=names).only("key")
    return {key: file for file in rows for key in (file.preview_key, file.card_key) if key in wanted}


def _confirmed(files: Sequence[File]) -> Iterator[str]:
    """Yield the keys of files that the store does not have: some stores' lists come late."""
    for file in files:
        try:
            list(storage.bucket().read(file.key, 0, 0))
        except ObjectMissing:
            if _at_rest().filter(pk=file.pk, key=file.key).exists():
                logger.error("The file %s has no object: %s.", file.pk, file.key)
                yield file.key


def _at_rest() -> FileQuerySet:
    """Return stored files whose object is at its key."""
    return File.objects.ready().filter(moves_from="")
