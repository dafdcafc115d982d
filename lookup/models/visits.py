"""Visitors of the last day as keyed hashes, and the batches of counted views and clicks that were written."""

from django.conf import settings
from django.db import models


class VisitSalt(models.Model):
    """The key of a day's visitor hashes; deleted two days later, after which no hash leads back to an address."""

    day = models.DateField(primary_key=True)
    salt = models.CharField(max_length=64)

    def __str__(self) -> str:
        return str(self.day)


class Visit(models.Model):
    """A visitor (a keyed hash of address and user agent) of a profile, counted once in 24 hours."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="visits")
    visitor = models.CharField(max_length=64)
    counted_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "visitor"], name="visit_is_unique"),
        ]

    def __str__(self) -> str:
        return self.visitor[:8]


class VisitBatch(models.Model):
    """Written in the transaction that adds the batch's counts, so that a batch that comes again adds nothing."""

    token = models.CharField(max_length=64, primary_key=True)
    folded_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.token
