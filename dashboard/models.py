"""Requests to staff."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, When
from django.utils import timezone

from accounts.models import ApiKey


class AccessRequestQuerySet(models.QuerySet["AccessRequest"]):
    def pending(self) -> AccessRequestQuerySet:
        return self.filter(state=AccessRequest.State.PENDING)

    def in_turn(self) -> AccessRequestQuerySet:
        """Return pending requests first, the oldest at the top; then decided ones, the latest first."""
        return self.order_by(
            Case(When(state=AccessRequest.State.PENDING, then=0), default=1),
            Case(When(state=AccessRequest.State.PENDING, then=F("created_at"))),
            F("decided_at").desc(),
            "-pk",
        )


class AccessRequest(models.Model):
    """A user asks staff to unlock a scope for their apps, or to grant a permission to one of their keys.

    `subject` is the scope or the `Permission`; `key` is only set for a permission. `decided_at` is also when the
    request was withdrawn. `decided_by` is empty then, and after the deletion of the decider's account.
    """

    class Kind(models.TextChoices):
        SCOPE = "SCOPE", "Scope"
        PERMISSION = "PERMISSION", "Key permission"

    class State(models.TextChoices):
        PENDING = "PENDING", "Waits for staff"
        GRANTED = "GRANTED", "Granted"
        DENIED = "DENIED", "Denied"
        WITHDRAWN = "WITHDRAWN", "Withdrawn"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_requests")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    subject = models.CharField(max_length=32)
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, null=True, related_name="access_requests")
    reason = models.TextField(max_length=2000, help_text="What it is needed for, in the words of who asks.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.PENDING)
    answer = models.TextField(max_length=2000, blank=True, help_text="What staff answered; who asked reads it.")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = AccessRequestQuerySet.as_manager()

    class Meta:
        permissions = [("decide_accessrequest", "Can decide what people ask of staff")]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "subject"],
                condition=Q(state="PENDING", kind="SCOPE"),
                name="access_request_one_for_each_scope",
            ),
            models.UniqueConstraint(
                fields=["key", "subject"],
                condition=Q(state="PENDING", kind="PERMISSION"),
                name="access_request_one_for_each_permission",
            ),
            models.CheckConstraint(
                condition=Q(kind="SCOPE", key__isnull=True) | Q(kind="PERMISSION", key__isnull=False),
                name="access_request_key_goes_with_permission",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["PENDING", "GRANTED", "DENIED", "WITHDRAWN"]),
                name="access_request_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(state="PENDING", decided_at__isnull=True)
                | (~Q(state="PENDING") & Q(decided_at__isnull=False)),
                name="access_request_decided_at_a_moment",
            ),
        ]
        indexes = [models.Index(fields=["state", "created_at"], name="access_request_queue")]

    def __str__(self) -> str:
        return f"{self.user} asks for {self.subject}"

    @property
    def is_pending(self) -> bool:
        return self.state == self.State.PENDING
