"""How many bytes each user stores."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Usage(models.Model):
    """One row for each user who ever uploaded: the sizes of the user's files that are PENDING or READY, added up.

    Changed by conditional UPDATEs alone (`imagehost.quotas`), in the transaction that changes the files.
    """

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="imagehost_usage"
    )
    used_bytes = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "usage"
        constraints = [
            models.CheckConstraint(condition=Q(used_bytes__gte=0), name="imagehost_usage_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.used_bytes} bytes"
