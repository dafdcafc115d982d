"""Notices: what staff wrote to a person, shown on their dashboard until they dismiss it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

MAX_NOTICE = 1000  # characters


class StaffNotice(models.Model):
    """A notice to `user` with the words of staff, who stay unnamed.

    `dismissed_at`: None while the dashboard shows it. One of a hidden profile stays until staff show the profile again;
    `was_public`: whether other people saw the profile before. The database does not check `user`: a release that does
    not know this table deletes them, too.
    """

    class Kind(models.TextChoices):
        WARNING = "WARNING", "Warning"
        PICTURE = "PICTURE", "Picture removed"
        HIDDEN = "HIDDEN", "Profile hidden"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="staff_notices", db_constraint=False
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    text = models.TextField(max_length=MAX_NOTICE)
    was_public = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=timezone.now)
    dismissed_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["user"], condition=Q(kind="HIDDEN", dismissed_at=None), name="staff_notice_hidden_once"
            ),
        ]
        indexes = [models.Index(fields=["user"], condition=Q(dismissed_at=None), name="staff_notice_shown")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.text[:40]}"
