"""The bytes that a user stores, and the plan's maximum."""

from __future__ import annotations

from django.db.models import F, Sum, Value
from django.db.models.functions import Coalesce, Greatest

from imagehost.errors import QuotaExceeded
from imagehost.models import File, Usage
from infrastructure.limits import REFUSED


def reserve(*, owner_id: str, size: int, most: int) -> None:
    """Book `size` bytes up to a total of `most`; raises QuotaExceeded. 1 query, 3 at a user's first upload.

    Call it in the transaction that inserts the file's row. The lock on the usage row serializes concurrent uploads.
    """
    if _add(owner_id, size, most):
        return
    Usage.objects.bulk_create([Usage(owner_id=owner_id)], ignore_conflicts=True)
    if not _add(owner_id, size, most):
        REFUSED.labels("plan-storage").inc()
        raise QuotaExceeded


def release(*, owner_id: str, size: int) -> None:
    """Release booked bytes, in the transaction that deletes the file. 1 query.

    Never below 0: a restored backup may have booked too little, which the recount corrects.
    """
    Usage.objects.filter(pk=owner_id).update(used_bytes=Greatest(F("used_bytes") - size, Value(0)))


def used(owner_id: str) -> int:
    """Return the booked bytes. 1 query."""
    return Usage.objects.filter(pk=owner_id).values_list("used_bytes", flat=True).first() or 0


def recount(*, owner_id: str) -> int:
    """Set the booked bytes to the sum of the user's files; return the difference.

    Call it in a transaction: the lock on the usage row delays bookings of uploads until its end.
    """
    usage = Usage.objects.select_for_update().filter(pk=owner_id).first()
    if usage is None:
        return 0
    files = File.objects.booked().filter(owner_id=owner_id)
    actual: int = files.aggregate(total=Coalesce(Sum("size"), 0))["total"]
    if actual != usage.used_bytes:
        Usage.objects.filter(pk=owner_id).update(used_bytes=actual)
    return usage.used_bytes - actual


def _add(owner_id: str, size: int, most: int) -> bool:
    rows = Usage.objects.filter(pk=owner_id, used_bytes__lte=most - size)
    return bool(rows.update(used_bytes=F("used_bytes") + size))
