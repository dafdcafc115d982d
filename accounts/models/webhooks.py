"""Webhooks: where a person or an app wants to hear of events, and what is delivered there."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

MAX_URL = 512
MAX_ANSWER = 1000  # characters of an answer that are kept
MAX_ERROR = 200
KEPT_BESIDE = timedelta(hours=24)  # a rotated secret, beside the new one
LOGOUT = "logout"  # the type of a delivery that is a logout token, not an event


class EventType(models.TextChoices):
    """The label says when the event happens."""

    APP_AUTHORIZED = "app.authorized", "A person allowed the app something new."
    APP_DISCONNECTED = "app.disconnected", "A person, or staff for them, disconnected the app."
    USER_UPDATED = "user.updated", "A claim changed that the person shares with the app."
    USER_DELETED = "user.deleted", "The account of a person who uses the app was deleted."
    USER_BANNED = "user.banned", "A person who uses the app was banned."
    APP_SUSPENDED = "app.suspended", "Staff suspended the app."
    APP_RESTORED = "app.restored", "Staff lifted the suspension of the app."
    KEY_EXPIRING = "key.expiring", "An API key ends within 7 days."
    KEY_DISABLED = "key.disabled", "An API key was disabled, revoked or replaced at once."
    FILE_QUARANTINED = "file.quarantined", "Staff took a file down."
    FILE_EXPIRED = "file.expired", "A file reached its end and was deleted."
    REPORT_DECIDED = "report.decided", "Staff decided a report."

    @property
    def is_of_app(self) -> bool:
        """Whether apps hear of it; else people hear of what is theirs."""
        return self.partition(".")[0] in {"app", "user"}


def new_message_id() -> str:
    """Return 128 random bits behind `msg_`."""
    return f"msg_{secrets.token_urlsafe(16)}"


class WebhookEndpoint(models.Model):
    """An address that gets events of one person or of one app.

    `secret` and `previous_secret` are encrypted (`webhooks.signatures`); the previous one signs, too, until
    `previous_secret_until`. `failing_since`: the first failure since the last success. `is_slow`: its last answer took
    long, or there is none yet. The database does not check `user` and `application`: a release that does not know this
    table deletes them, too.
    """

    class Disabled(models.TextChoices):
        OWNER = "OWNER", "Paused by you"
        FAILING = "FAILING", "Disabled: every delivery of three days failed"
        GONE = "GONE", "Disabled: it answered 410 Gone"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        related_name="webhook_endpoints",
        db_constraint=False,
    )
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        on_delete=models.CASCADE,
        null=True,
        related_name="webhook_endpoints",
        db_constraint=False,
    )
    url = models.CharField(max_length=MAX_URL)
    events: list[str] = models.JSONField(default=list)  # type: ignore[assignment]  # a list, always
    secret = models.TextField()
    previous_secret = models.TextField(blank=True, default="")
    previous_secret_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    disabled_at = models.DateTimeField(null=True)
    disabled_by = models.CharField(max_length=8, choices=Disabled.choices, blank=True, default="")
    failing_since = models.DateTimeField(null=True)
    is_slow = models.BooleanField(default=True)

    class Meta:
        default_permissions = ("view", "delete")
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, application__isnull=False) | Q(user__isnull=False, application=None),
                name="webhook_endpoint_of_one",
            ),
            models.CheckConstraint(
                condition=Q(disabled_at=None, disabled_by="") | (Q(disabled_at__isnull=False) & ~Q(disabled_by="")),
                name="webhook_endpoint_says_why",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def state(self) -> str:
        """Return the state in a word: Delivering, Failing, Paused or Disabled."""
        if self.disabled_at is not None:
            return "Paused" if self.disabled_by == self.Disabled.OWNER else "Disabled"
        return "Delivering" if self.failing_since is None else "Failing"

    def signs_with_previous(self, now: datetime) -> bool:
        return self.previous_secret_until is not None and now < self.previous_secret_until


class WebhookDeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def waiting(self) -> WebhookDeliveryQuerySet:
        """Return what is not finished: the condition of the partial indexes."""
        return self.filter(due_at__isnull=False)


class WebhookDelivery(models.Model):
    """One message to one receiver: written in the transaction of what it tells, delivered later, and kept as its log.

    `message_id` is the same in every attempt. A logout has `client_id` and no endpoint; it goes to that app's address
    for back-channel logout. `subject`: the id of the person whom it is about, or empty. `due_at`: when the next attempt
    may begin; None once it is delivered or given up. `claimed_until`: a worker has it until then; a claim sets
    `due_at` to its end, too. `attempts` and the columns that begin with `last_`: of the attempts so far.
    """

    message_id = models.CharField(max_length=40, unique=True, default=new_message_id, editable=False)
    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.CASCADE, null=True, related_name="deliveries", db_index=False
    )
    client_id = models.CharField(max_length=64, blank=True, default="")
    type = models.CharField(max_length=32)
    subject = models.CharField(max_length=32, blank=True, default="")
    data: dict[str, object] = models.JSONField(default=dict)  # type: ignore[assignment]  # an object, always
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    due_at = models.DateTimeField(null=True, default=timezone.now)
    claimed_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=MAX_ERROR, blank=True, default="")
    last_answer = models.TextField(max_length=MAX_ANSWER, blank=True, default="")
    last_ms = models.PositiveIntegerField(null=True)

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(endpoint=None, type=LOGOUT) & ~Q(client_id="")
                | Q(endpoint__isnull=False, client_id="") & ~Q(type=LOGOUT),
                name="webhook_delivery_to_one",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="webhook_delivery_due"),
            models.Index(
                fields=["endpoint", "due_at", "id"], condition=Q(due_at__isnull=False), name="webhook_delivery_next"
            ),
            models.Index(
                fields=["endpoint", "client_id"],
                condition=Q(claimed_until__isnull=False),
                name="webhook_delivery_claimed",
            ),
            models.Index(
                fields=["endpoint", "subject", "id"],
                condition=Q(due_at__isnull=False),
                name="webhook_delivery_in_order",
            ),
            models.Index(fields=["endpoint", "-id"], name="webhook_delivery_newest"),
            models.Index(fields=["client_id", "-id"], condition=Q(endpoint=None), name="webhook_logout_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.message_id}"

    @property
    def state(self) -> str:
        """Return the state in a word: Waiting, Retrying, Delivered, Failed or Not sent."""
        if self.due_at is not None:
            return "Retrying" if self.attempts else "Waiting"
        if self.delivered_at is not None:
            return "Delivered"
        return "Failed" if self.attempts else "Not sent"
