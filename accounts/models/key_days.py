"""How many requests each API key made on each day."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models.api_keys import ApiKey


class KeyDay(models.Model):
    """Requests that were answered; refused ones are not among them. `day` is one of UTC.

    Written by `accounts.api_keys.uses` alone, a minute late. Where a process ends in that minute, its count is lost.
    """

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField(db_index=True)
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key", "day"], name="key_day_one_for_each_day"),
            models.CheckConstraint(condition=Q(count__gt=0), name="key_day_counts_something"),
        ]

    def __str__(self) -> str:
        return f"{self.key}, {self.day}"
