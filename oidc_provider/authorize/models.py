"""What users allowed apps to do, and the authorization requests that wait for them."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models

from oidc_provider.applications.models import Application


class Approval(models.Model):
    """One row for each user and app, kept apart from tokens: suspending an app deletes tokens and keeps approvals."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="approvals")
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="approvals")
    scopes: list[str] = models.JSONField(default=list)  # type: ignore[assignment]  # a list, always
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "application"], name="approval_one_for_user_and_app")]

    def __str__(self) -> str:
        return f"{self.user} allows {self.application}"

    def covers(self, scopes: list[str]) -> bool:
        return set(scopes) <= set(self.scopes)


class PendingRequestQuerySet(models.QuerySet["PendingRequest"]):
    def with_app(self) -> PendingRequestQuerySet:
        """With the app, its owner, and whether it has a logo, but not the picture itself."""
        return self.select_related("application__user", "application__logo").defer("application__logo__png")

    def past_use(self, now: datetime) -> PendingRequestQuerySet:
        """Kept ten minutes longer than they can be answered, so that the page of a late one can still name the app."""
        return self.filter(created_at__lte=now - 2 * settings.AUTHORIZATION_REQUEST_LIFETIME)


class PendingRequest(models.Model):
    """A valid authorization request that waits for login or consent, so that nothing of it stands in a URL but its id.

    `must_authenticate_after`: the person has to have signed in later than that (`prompt=login`, `max_age`).
    `asks_account`: a person who signed in before it has to confirm the account (`prompt=select_account`).
    `expected_user_id`: whom the app's `id_token_hint` names. `answered_at`: when it led back to the app, once for all.
    """

    id = models.CharField(max_length=43, primary_key=True)
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="pending_requests")
    redirect_uri = models.TextField()
    scopes: list[str] = models.JSONField(default=list)  # type: ignore[assignment]  # a list, always
    state = models.TextField()
    nonce = models.TextField(blank=True)
    code_challenge = models.CharField(max_length=43)
    asks_consent = models.BooleanField(default=False)
    asks_account = models.BooleanField(default=False, db_default=False)
    must_authenticate_after = models.DateTimeField(null=True)
    expected_user_id = models.CharField(max_length=32, blank=True)
    created_at = models.DateTimeField(db_index=True)
    answered_at = models.DateTimeField(null=True)

    objects = PendingRequestQuerySet.as_manager()

    def __str__(self) -> str:
        return f"Request of {self.application}"

    def is_open(self, now: datetime) -> bool:
        """Whether it can still lead back to the app."""
        return self.answered_at is None and now < self.created_at + settings.AUTHORIZATION_REQUEST_LIFETIME
