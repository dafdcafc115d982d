"""The log of apps' requests, for debugging; the service decides nothing by it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q

from oidc_provider.models.applications import Application

COUNTS_KEPT = timedelta(days=90)
DESCRIPTION_LENGTH = 300


class RequestKind(models.TextChoices):
    """What a request was about. TRIED: the app's owner exchanged a code in the login test, without the app's secret."""

    ASKED = "ASKED", "Sign-in asked for"
    SHOWN = "SHOWN", "Consent shown"
    APPROVED = "APPROVED", "Consent given"
    KEPT = "KEPT", "Consent kept from before"
    DENIED = "DENIED", "Consent refused"
    CODE = "CODE", "Code exchanged"
    TRIED = "TRIED", "Code exchanged by Try it"
    REFRESH = "REFRESH", "Tokens refreshed"
    TOKEN = "TOKEN", "Another token request"
    USERINFO = "USERINFO", "User info read"
    INTROSPECT = "INTROSPECT", "Token introspected"
    REVOKE = "REVOKE", "Token revoked"

    @property
    def endpoint(self) -> str:
        return next(name for name, kinds in KINDS_OF_ENDPOINTS.items() if self in kinds)


KINDS_OF_ENDPOINTS: dict[str, tuple[RequestKind, ...]] = {
    "authorize": (
        *(RequestKind.ASKED, RequestKind.SHOWN),
        *(RequestKind.APPROVED, RequestKind.KEPT, RequestKind.DENIED),
    ),
    "token": (RequestKind.CODE, RequestKind.TRIED, RequestKind.REFRESH, RequestKind.TOKEN),
    "userinfo": (RequestKind.USERINFO,),
    "introspect": (RequestKind.INTROSPECT,),
    "revoke": (RequestKind.REVOKE,),
}
OK = "ok"


class RequestRecord(models.Model):
    """One request. `outcome`: `ok` or the error code; `redirect_uri`: without query, for errors that concern it.

    `network`: the /24 or /48 of the client's address. No column holds a secret, code, token or state.
    """

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="request_records")
    moment = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=RequestKind.choices)
    outcome = models.CharField(max_length=32, default=OK)
    description = models.CharField(max_length=DESCRIPTION_LENGTH, blank=True)
    redirect_uri = models.CharField(max_length=DESCRIPTION_LENGTH, blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    network = models.CharField(max_length=43, blank=True)
    request_id = models.CharField(max_length=64)

    class Meta:
        indexes = [
            models.Index(fields=["application", "-moment"], name="request_record_newest"),
            models.Index(fields=["moment"], name="request_record_moment"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.application_id}: {self.outcome}"

    @property
    def endpoint(self) -> str:
        return RequestKind(self.kind).endpoint

    @property
    def is_ok(self) -> bool:
        return self.outcome == OK


class UsageCount(models.Model):
    """The number of requests of one kind and outcome in one hour. Counts are complete; records are not."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="usage_counts")
    hour = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=RequestKind.choices)
    outcome = models.CharField(max_length=32)
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["application", "hour", "kind", "outcome"], name="usage_count_one_for_each"),
            models.CheckConstraint(condition=Q(count__gt=0), name="usage_count_is_some"),
        ]
        indexes = [models.Index(fields=["hour"], name="usage_count_hour")]

    def __str__(self) -> str:
        return f"{self.kind}, {self.outcome}: {self.count}"


class LastUse(models.Model):
    """When an app last signed a user in, refreshed tokens, or read the user's claims."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="last_uses")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    used_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["application", "user"], name="last_use_one_for_app_and_user")]
        indexes = [
            models.Index(fields=["application", "used_at"], name="last_use_newest"),
            models.Index(fields=["used_at"], name="last_use_moment"),
        ]

    def __str__(self) -> str:
        return f"{self.application_id} for {self.user_id}"
