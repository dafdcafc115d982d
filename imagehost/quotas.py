"""How many bytes a user stores, and whether more would be too many."""

from __future__ import annotations

from django.db.models import F, Sum, Value
from django.db.models.functions import Coalesce, Greatest

from accounts.limits import REFUSED
from imagehost.errors import QuotaExceeded
from imagehost.models import File, Usage


def reserve(*, owner_id: str, size: int, most: int) -> None:
    """Book `size` bytes where the total stays within `most`; raises QuotaExceeded. 1 query, 3 at a user's first upload.

    Call it in the transaction that inserts the file's row. The row of the user stays locked until that ends, so
    concurrent uploads are booked one after the other.
    """
    if _add(owner_id, size, most):
        return
    Usage.objects.bulk_create([Usage(owner_id=owner_id)], ignore_conflicts=True)
    if not _add(owner_id, size, most):
        REFUSED.count("plan-storage")
        raise QuotaExceeded


def release(*, owner_id: str, size: int) -> None:
    """Give back what was booked, in the transaction that ends the file. 1 query.

    Never below 0: where a restored backup booked too little, a deletion is no error, and the recount corrects it.
    """
    Usage.objects.filter(pk=owner_id).update(used_bytes=Greatest(F("used_bytes") - size, Value(0)))


def used(owner_id: str) -> int:
    """Bytes. 1 query."""
    return Usage.objects.filter(pk=owner_id).values_list("used_bytes", flat=True).first() or 0


def recount(*, owner_id: str) -> int:
    """Set what is booked to what the user's files add up to; by how many bytes that was wrong.

    Inside a transaction: it locks the user's row first, so that no upload is booked meanwhile.
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
