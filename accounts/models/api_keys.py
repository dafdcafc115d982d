"""API keys, their permissions and their uses by day."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from infrastructure.text_rules import validate_line


class Permission(models.TextChoices):
    """What a key may call. ACCOUNT is the account key of the earlier forms.

    `description`: on pages of the owner. `is_self_served`: owners give it to their keys; staff grant the rest.
    """

    description: str
    is_self_served: bool

    def __new__(cls, value: str, description: str = "", is_self_served: bool = False) -> Self:  # noqa: FBT001, FBT002
        permission = str.__new__(cls, value)
        permission._value_ = value
        permission.description, permission.is_self_served = description, is_self_served
        return permission

    ACCOUNT = (
        "account",
        "Account key: profiles and leaderboards in the earlier forms, your gallery and folders",
        False,
        "Account key: earlier forms, gallery and folders",
    )
    IMAGEHOST_UPLOAD = "imagehost:upload", "Upload files to your image host", True, "Upload to the image host"
    LOOKUP_USER = "lookup:user", "Look up users and their profiles", False, "Look up users"
    LOOKUP_PRESENCE = "lookup:presence", "Look up presence", False, "Look up presence"


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def live(self, now: datetime) -> ApiKeyQuerySet:
        """Return keys that can be used at `now`, their usage quota aside."""
        return self.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now), is_enabled=True, revoked_at__isnull=True)


class ApiKey(models.Model):
    """A secret that was shown once; the database holds its SHA-256.

    A revoked or expired key keeps its row: its callers get the error that says so.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=64, blank=True, validators=[validate_line])
    prefix = models.CharField(max_length=12, unique=True, editable=False, help_text="Public: names the key in lists.")
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    permissions = models.JSONField(default=list, editable=False)

    is_enabled = models.BooleanField(default=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: it does not end.")

    remaining_uses = models.BigIntegerField(null=True, blank=True, help_text="Empty: no usage quota.")
    refill_amount = models.BigIntegerField(null=True, blank=True, help_text="What a refill sets the quota to.")
    refill_interval = models.DurationField(null=True, blank=True)
    refilled_at = models.DateTimeField(null=True, blank=True, editable=False)

    origins = models.TextField(
        blank=True,
        default="",
        db_default="",
        max_length=3000,
        help_text="Pages that may open event streams with a token of the key: https:// and the host, one on each line.",
    )

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    changed_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    form_id = models.CharField(  # noqa: DJ001 - several of none, but one of each
        max_length=32, null=True, editable=False, help_text="Of the form that made it: sent twice, it makes one key."
    )
    replaced_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="replaces"
    )
    reminded_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When its owner was told that it ends soon."
    )

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = "API key"
        constraints = [
            models.CheckConstraint(
                condition=Q(remaining_uses__isnull=True) | Q(remaining_uses__gte=0), name="api_key_uses_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(refill_amount__isnull=True, refill_interval__isnull=True)
                | Q(
                    refill_amount__isnull=False,  # a NULL compared with 0 would let the row pass
                    refill_amount__gt=0,
                    refill_interval__isnull=False,
                    remaining_uses__isnull=False,
                ),
                name="api_key_refill_is_whole",
            ),
            models.UniqueConstraint(fields=["owner", "form_id"], name="api_key_one_for_each_form"),
        ]

    def __str__(self) -> str:
        return self.name or self.prefix

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def allows(self, permission: str) -> bool:
        return permission in self.permissions

    def is_live(self, now: datetime) -> bool:
        """Return whether the key can be used at `now`, as `ApiKeyQuerySet.live` has it."""
        return self.revoked_at is None and self.is_enabled and not self.is_expired(now)

    def is_over(self, now: datetime) -> bool:
        """Return whether it is revoked or expired."""
        return self.revoked_at is not None or self.is_expired(now)


class KeyDay(models.Model):
    """Requests that were answered; refused ones are not among them. `day` is one of UTC.

    Written only by `accounts.api_keys.uses`, a minute late. Where a process ends in that minute, its count is lost.
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
