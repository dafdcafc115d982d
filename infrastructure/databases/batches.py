"""Any number of rows in batches: read in order, or deleted in short transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)

SIZE = 2_000  # rows of one DELETE: a few milliseconds, in which nothing else waits for long


def delete(rows: QuerySet[Any], *, by: str, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete `rows` in batches, lowest `by` first, and return their number. 2 queries for each batch.

    `by` is a field with an index that `rows` compares with a bound, so that a batch reads little more than it deletes.
    Each DELETE repeats the conditions: a row that has been changed since it was found, such as a session that goes on,
    stays. `after_batch` is called after each, for the holder of a lease.
    """
    deleted = 0
    following = rows
    while found := list(following.order_by(by).values_list("pk", by)[:SIZE]):
        # One transaction, of which rows that are deleted by cascade are not counted.
        deleted += rows.filter(pk__in=[pk for pk, _ in found]).delete()[1].get(rows.model._meta.label, 0)
        after_batch()
        if len(found) < SIZE:
            break
        # Rows that were deleted leave entries in the index until a vacuum: the next batch begins behind them.
        following = rows.filter(**{f"{by}__gte": found[-1][1]})
    return deleted


def in_order(rows: QuerySet[Row], *, by: str, size: int) -> Iterator[list[Row]]:
    """Yield the rows by `by`, a field with an index, then by primary key. 1 query for each batch, which begins behind
    the one before: no cursor and no transaction stays open."""
    following = rows
    while batch := list(following.order_by(by, "pk")[:size]):
        yield batch
        if len(batch) < size:
            return
        last = getattr(batch[-1], by)
        is_later = Q(**{f"{by}__gt": last}) | Q(pk__gt=batch[-1].pk)
        following = rows.filter(is_later, **{f"{by}__gte": last})
