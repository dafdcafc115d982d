"""Do the bytes that are booked, the rows and the objects of the store agree? Once a night they are compared.

Memory is bounded: the keys that the store lists (in no order that all stores and databases share) go into a temporary
SQLite file, and rows are looked up in it a thousand at a time. What is being uploaded or deleted meanwhile is no
difference: a row is there before its object and goes after it, the rows are read after the store's list, and
everything younger than GRACE is left alone.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.core.exceptions import SuspiciousFileOperation
from django.db import transaction
from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce

from imagehost import previews, quotas, storage
from imagehost.models import FILES, NAME_LENGTH, PREVIEWS, QUARANTINE, File, FileQuerySet, PreviewState, State, Usage
from imagehost.storage import Entry, ObjectMissing, StorageFailed

GRACE = timedelta(hours=24)
CHUNK = 1000  # keys looked up at a time
MOST_TOLD = 1000  # keys of files that are missing, or damaged
FEW = 50
"""Objects without a file that are removed whatever their share is; beyond it, at most a quarter of all objects."""
PATIENCE = 5  # removals that fail one after the other

logger = logging.getLogger(__name__)


@dataclass
class Found:
    """What was compared and what came of it.

    `recounted`: users whose usage was wrong. `removed`: objects without a file; `left`: such objects that are still
    there, because they were too many or the store refused; `spared`: such objects after a restore, left for people.
    `missing`, `damaged`: keys of stored files that have no object, or one of another size: for people to decide.
    `remade`: previews that will be made again.
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


def reconcile(
    *,
    now: datetime,
    is_after_restore: bool = False,
    may_remove_many: bool = False,
    after_batch: Callable[[], None] = lambda: None,
) -> Found:
    """Put right what can be put right without losing a file, and say what else is wrong.

    `is_after_restore`: files of the last GRACE are looked for too, every preview that failed is tried once more, and
    objects without a file are left alone: they may have come after the backup.
    Where more objects have no file than FEW and a quarter of all, this is perhaps another database's bucket: none is
    removed unless `may_remove_many`. `after_batch` is called again and again, for the holder of a lease. Raises
    StorageFailed where the store cannot be listed.
    """
    found = Found(recounted=_recount(after_batch))
    with _listing() as listing:
        for prefix, stored in ((FILES, _files), (QUARANTINE, _files), (PREVIEWS, _previews)):
            _compare_objects(prefix, stored, listing, found, now - GRACE, after_batch)
        _compare_rows(listing, found, now, after_batch, is_after_restore=is_after_restore)
        if is_after_restore and not may_remove_many:
            found.spared = listing.stray_count()
        else:
            _remove(listing, found, after_batch, may_remove_many=may_remove_many)
    return found


class _Listing:
    """Keys, on disk. Without a name a database of SQLite is a temporary file, which goes with its connection."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("CREATE TABLE objects (key TEXT PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("CREATE TABLE strays (key TEXT PRIMARY KEY) WITHOUT ROWID")

    def add(self, keys: Iterable[str]) -> None:
        self._database.executemany("INSERT OR IGNORE INTO objects VALUES (?)", ((key,) for key in keys))

    def add_stray(self, key: str) -> None:
        self._database.execute("INSERT OR IGNORE INTO strays VALUES (?)", (key,))

    def absent(self, keys: Sequence[str]) -> set[str]:
        """Those that were never added."""
        places = ", ".join("?" * len(keys))
        rows = self._database.execute(f"SELECT key FROM objects WHERE key IN ({places})", keys)  # noqa: S608 - ? alone
        return set(keys).difference(key for (key,) in rows)

    def stray_count(self) -> int:
        count: int = self._database.execute("SELECT COUNT(*) FROM strays").fetchone()[0]
        return count

    def strays(self) -> Iterator[str]:
        for (key,) in self._database.execute("SELECT key FROM strays ORDER BY key"):
            yield key

    def close(self) -> None:
        self._database.close()


def _listing() -> contextlib.closing[_Listing]:
    return contextlib.closing(_Listing())


def _recount(after_batch: Callable[[], None]) -> int:
    """How many users' usage was wrong. Those that differ are locked one by one, and counted again then."""
    without = File.objects.booked().filter(owner__imagehost_usage__isnull=True).values_list("owner_id", flat=True)
    Usage.objects.bulk_create(
        [Usage(owner_id=owner_id) for owner_id in without.order_by("owner_id").distinct()], ignore_conflicts=True
    )
    actual = Coalesce(Sum("owner__files__size", filter=~Q(owner__files__state=State.DELETED)), 0)
    wrong = Usage.objects.annotate(actual=actual).exclude(actual=F("used_bytes")).order_by("pk")
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
    """The rows that these objects belong to, by key or by the key it moves from. 1 query; 2 with strays."""
    rows = File.objects.only("key", "moves_from", "state", "size")
    found = {file.key: file for file in rows.filter(key__in=keys)}
    if strays := set(keys) - found.keys():
        found |= {file.moves_from: file for file in rows.moving().filter(moves_from__in=strays)}
    return found


def _previews(keys: Sequence[str]) -> dict[str, File]:
    """The same for the keys of previews: these know only the name. 1 query."""
    names = [key.rpartition(".")[0][-NAME_LENGTH:].upper() for key in keys]
    return {file.preview_key: file for file in File.objects.filter(name__upper__in=names).only("key")}


def _compare_objects(
    prefix: str,
    stored: Callable[[Sequence[str]], dict[str, File]],
    listing: _Listing,
    found: Found,
    before: datetime,
    after_batch: Callable[[], None],
) -> None:
    """Note every object, and those without a row; an object's size where it is a file's."""
    entries = (entry for entry in storage.bucket().entries(prefix) if not entry.key.endswith("/"))  # S3's "folders"
    while chunk := list(itertools.islice(entries, CHUNK)):
        found.objects += len(chunk)
        listing.add(entry.key for entry in chunk)
        rows = stored([entry.key for entry in chunk])
        for entry in chunk:
            file = rows.get(entry.key)
            if file is None and entry.changed_at < before:
                listing.add_stray(entry.key)
            elif file is not None and prefix != PREVIEWS and _is_damaged(file, entry):
                logger.error("The object %s has %s bytes, not %s.", entry.key, entry.size, file.size)
                found.damaged += [entry.key][: MOST_TOLD - len(found.damaged)]
        after_batch()


def _is_damaged(file: File, entry: Entry) -> bool:
    return file.state == State.READY and file.size != entry.size


def _compare_rows(
    listing: _Listing, found: Found, now: datetime, after_batch: Callable[[], None], *, is_after_restore: bool
) -> None:
    """Stored files whose object the store did not list, and previews that are to be made again."""
    before = now if is_after_restore else now - GRACE
    rows = _at_rest().filter(uploaded_at__lt=before).only("key", "preview_state", "preview_attempts").order_by("pk")
    following = rows
    while chunk := list(following[:CHUNK]):
        missing = listing.absent([file.key for file in chunk])
        found.missing += itertools.islice(_confirmed(chunk, missing), MOST_TOLD - len(found.missing))
        made = {file.preview_key: file for file in chunk if file.preview_state == PreviewState.MADE}
        if lost := listing.absent(list(made)):
            found.remade += _make_again([file for key, file in made.items() if key in lost and file.key not in missing])
        failed = [file for file in chunk if previews.may_be_tried_again(file, is_after_restore=is_after_restore)]
        if there := [file for file in failed if file.key not in missing]:
            found.remade += previews.try_again(there)
        after_batch()
        following = rows.filter(pk__gt=chunk[-1].pk)


def _confirmed(chunk: Iterable[File], missing: set[str]) -> Iterator[str]:
    """The missing keys that the store does not have: some stores' lists come late."""
    for file in chunk:
        if file.key in missing and _is_missing(file.key) and _at_rest().filter(pk=file.pk, key=file.key).exists():
            logger.error("The file %s has no object: %s.", file.pk, file.key)
            yield file.key


def _at_rest() -> FileQuerySet:
    """Stored files whose object is at its key."""
    return File.objects.ready().filter(moves_from="")


def _is_missing(key: str) -> bool:
    try:
        list(storage.bucket().read(key, 0, 0))
    except ObjectMissing:
        return True
    return False


def _make_again(files: Iterable[File]) -> int:
    rows = File.objects.ready().filter(pk__in=[file.pk for file in files], preview_state=PreviewState.MADE)
    return rows.update(preview_state=PreviewState.WAITING, preview_attempts=0, preview_width=None, preview_height=None)


def _remove(listing: _Listing, found: Found, after_batch: Callable[[], None], *, may_remove_many: bool) -> None:
    count = listing.stray_count()
    if not may_remove_many and count > max(FEW, found.objects // 4):
        logger.error("%s of %s objects have no file and were left alone: is it the right bucket?", count, found.objects)
        found.left, found.is_suspicious = count, True
        return
    failed_in_a_row = 0
    for key in listing.strays():
        try:
            storage.bucket().remove(key)
        except (StorageFailed, SuspiciousFileOperation):
            logger.exception("The object %s has no file, but could not be removed.", key)
            failed_in_a_row += 1
            if failed_in_a_row == PATIENCE:
                break
        else:
            logger.warning("Removed the object %s, which has no file.", key)
            found.removed += 1
            failed_in_a_row = 0
        after_batch()
    found.left = count - found.removed
