"""Outside accounts that a user linked to the service."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class LinkedAccount(models.Model):
    """At most one of each kind for a user, and each outside account belongs to one user."""

    class Kind(models.TextChoices):
        CHAT = "CHAT", "Chat platform"
        SCROBBLER = "SCROBBLER", "Music scrobbler"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="linked_accounts")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    external_id = models.CharField(max_length=64, help_text="The account's id there, as a string.")
    name = models.CharField(max_length=128, help_text="The account's name there.")
    avatar_url = models.URLField(
        max_length=500, blank=True, default="", db_default="", help_text="The account's picture there, when last seen."
    )
    linked_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="linked_account_one_of_a_kind"),
            models.UniqueConstraint(fields=["kind", "external_id"], name="linked_account_belongs_to_one_user"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["CHAT", "SCROBBLER"]), name="linked_account_kind_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.name}"
