"""Deletes any number of old rows in short transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

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
