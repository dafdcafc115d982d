"""What the prober spends on an owner's files, in seconds of a processor; it is paid off by waiting (`PreviewTurn`).

Each owner pays off BUDGET seconds a minute. Previews wait as long as more than a minute is to be paid off; uploads are
refused as long as it is more than LONGEST.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest
from django.utils import timezone

from imagehost.errors import CostlyUploads
from imagehost.examining import probing
from imagehost.models import PreviewTurn
from infrastructure.limits import REFUSED

MINUTE = timedelta(minutes=1)
BUDGET = 10.0  # seconds of a processor for an owner's files a minute; more is paid off by waiting
LONGEST = 6 * MINUTE  # a hundred large pictures take less, and previews leave most of it


@contextlib.contextmanager
def charged(owner_id: str) -> Iterator[None]:
    """Charge the owner with what the prober takes in the block. 2 queries, 4 at a user's first file.

    Raises CostlyUploads where too much is to be paid off.
    """
    if seconds_left := _seconds_left(owner_id, timezone.now()):
        REFUSED.labels("examinations").inc()
        raise CostlyUploads(seconds_left)
    with probing.metered() as meter:
        try:
            yield
        finally:
            if meter.seconds:
                _spend(owner_id, meter.seconds)


def is_spent(now: datetime) -> Q:
    """Return the condition of owners whose previews have to wait."""
    return Q(spent_until__gt=now + MINUTE)


def spent_until(now: datetime, spent: float) -> Combinable:
    """Return the column `spent_until` with the seconds `spent` added."""
    return Greatest(F("spent_until"), Value(now)) + MINUTE * (spent / BUDGET)


def _seconds_left(owner_id: str, now: datetime) -> int:
    """Return the seconds until the owner may upload again. 1 query."""
    if not settings.RATE_LIMITS_ENABLED:
        return 0
    until = PreviewTurn.objects.filter(pk=owner_id).values_list("spent_until", flat=True).first()
    return 0 if until is None else max(0, math.ceil((until - now - LONGEST).total_seconds()))


def _spend(owner_id: str, spent: float) -> None:
    now = timezone.now()
    rows = PreviewTurn.objects.filter(pk=owner_id)
    if not rows.update(spent_until=spent_until(now, spent)):
        first = PreviewTurn(owner_id=owner_id, busy_until=now, spent_until=now)
        PreviewTurn.objects.bulk_create([first], ignore_conflicts=True)
        rows.update(spent_until=spent_until(now, spent))
