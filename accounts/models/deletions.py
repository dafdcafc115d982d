"""Accounts that their owners asked to delete."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class AccountDeletion(models.Model):
    """One row while a deletion waits for its day; keeping the account deletes the row."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="deletion"
    )
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(due_at__gt=F("asked_at")), name="account_deletion_has_days_of_grace")
        ]

    def __str__(self) -> str:
        return f"Deletion of {self.user}"
