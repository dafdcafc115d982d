"""The audit trail: actor, act, object and reason."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    def update(self, **values: Any) -> NoReturn:
        raise TypeError("An audit event is never changed.")

    def delete(self) -> NoReturn:
        raise TypeError("An audit event is never deleted.")


class AuditEvent(models.Model):
    """Append-only. Written in the transaction of the act that it records; holds no secret."""

    class ActorKind(models.TextChoices):
        USER = "USER", "User"
        STAFF = "STAFF", "Staff"
        SYSTEM = "SYSTEM", "System"

    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="audit_events"
    )
    actor_name = models.CharField(max_length=64, blank=True, help_text="Kept when the account is deleted.")
    actor_kind = models.CharField(max_length=8, choices=ActorKind.choices)
    verb = models.CharField(max_length=64, help_text="For example application:suspended.")
    object_type = models.CharField(max_length=64)
    object_id = models.CharField(max_length=64)
    object_name = models.CharField(max_length=255)
    reason = models.TextField(blank=True)
    data = models.JSONField(default=dict)
    address = models.CharField(max_length=64, blank=True, help_text="The client address as it is counted by limits.")

    objects = AuditEventQuerySet.as_manager()

    class Meta:
        permissions = [("export_auditevent", "Can export the audit trail")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(actor_kind__in=["USER", "STAFF", "SYSTEM"]), name="audit_actor_kind_is_known"
            ),
        ]
        indexes = [models.Index(fields=["object_type", "object_id", "created_at"], name="audit_by_object")]

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M:%S} {self.actor_name or 'system'} {self.verb} {self.object_name}"

    def save(self, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("An audit event is never changed.")
        super().save(**kwargs)

    def delete(self, using: str | None = None, keep_parents: bool = False) -> NoReturn:  # noqa: FBT001, FBT002 - Django calls it so
        raise TypeError("An audit event is never deleted.")

    @property
    def in_words(self) -> str:
        """Return the verb as pages show it: "Application suspended" for application:suspended."""
        words = self.verb.replace(":", " ").replace("_", " ").capitalize()
        return words.replace("Api key", "API key")
