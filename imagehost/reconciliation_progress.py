"""How far the comparison of rows and store has come, in the database: the next run goes on where one ended."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from accounts.databases import batches
from imagehost.models import KEY_LENGTH, Reconciliation, Stage, StrayObject

LONGEST = timedelta(days=7)
"""An older comparison is begun again: what it counted first is no longer so."""
STRAYS_KEPT = 200_000
"""Keys of objects without a file that one comparison removes. Further ones are counted, and left to the next."""


class Overtaken(Exception):
    """Another run has gone on with the comparison meanwhile: stop."""


@dataclass
class Found:
    """What was compared and what came of it.

    `recounted`: users whose usage was wrong. `removed`: objects without a file; `left`: such objects that are still
    there, because they are to be removed at the end, were too many, or the store refused; `spared`: such objects after
    a restore, left for people. `missing`, `damaged`: keys of stored files that have no object, or one of another size:
    for people to decide. `remade`: previews that will be made again. Not `is_finished`: the time was over, and the next
    run goes on.
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


@dataclass
class Progress:
    """A comparison. `found` holds what its parts, over all runs, have come to; `save` ends a part."""

    row: Reconciliation
    found: Found

    def save(self, stage: Stage, *, done_until: str = "") -> None:
        """Go on from there, also after a crash. Overtaken where another run has done so. 1 query."""
        mine = Reconciliation.objects.filter(pk=self.row.pk, parts=self.row.parts, started_at=self.row.started_at)
        values = {"stage": stage, "done_until": done_until, "parts": self.row.parts + 1, "found": asdict(self.found)}
        if not mine.update(**values):
            raise Overtaken("Another run of the comparison has gone on from here.")
        for name, value in values.items():
            setattr(self.row, name, value)


def resume(*, now: datetime, is_after_restore: bool, after_batch: Callable[[], None]) -> Progress:
    """The comparison that is under way, else a new one.

    After a restore one that looks for less is begun again; one that looks for more stays what it is. 1 query, or 3.
    """
    row = Reconciliation.objects.filter(pk=Reconciliation.THE_ROW).first()
    if row is not None and row.started_at > now - LONGEST and (row.is_after_restore or not is_after_restore):
        return Progress(row, Found(**row.found))
    end(after_batch)
    found = Found()
    row = Reconciliation(
        pk=Reconciliation.THE_ROW, started_at=now, is_after_restore=is_after_restore, found=asdict(found)
    )
    row.save(force_insert=True)
    return Progress(row, found)


def end(after_batch: Callable[[], None]) -> None:
    """Forget the comparison: nothing is left to do. 2 queries, and 1 for each batch of keys."""
    batches.delete(StrayObject.objects.all(), by="key", after_batch=after_batch)
    Reconciliation.objects.filter(pk=Reconciliation.THE_ROW).delete()


def keep_strays(keys: Collection[str], found: Found) -> None:
    """Note objects without a file, for the end. A key that a run noted before it was interrupted stays once."""
    found.left += len(keys)
    kept = [StrayObject(key=key) for key in keys if len(key) <= KEY_LENGTH]
    if kept and found.left <= STRAYS_KEPT:
        StrayObject.objects.bulk_create(kept, ignore_conflicts=True)


def strays(most: int) -> list[str]:
    """The first of the noted keys. 1 query."""
    return list(StrayObject.objects.order_by("key").values_list("key", flat=True)[:most])


def drop_strays(keys: Collection[str]) -> None:
    StrayObject.objects.filter(pk__in=list(keys)).delete()
