"""Approvals, authorization requests, codes, tokens and signing keys. Of codes and tokens only the SHA-256 is stored."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from oauth2_provider.models import AbstractAccessToken, AbstractGrant, AbstractIDToken, AbstractRefreshToken

from accounts.models import WebhookEndpoint
from oidc_provider.models.applications import Application

SID_LENGTH = 43


class Approval(models.Model):
    """The scopes that a user allows an app. Suspending an app deletes its tokens and keeps approvals."""

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
        """With the app, its owner and team, and whether it has a logo, without the picture; `has_webhooks`: whether the
        app has enabled ones."""
        endpoints = WebhookEndpoint.objects.filter(application=OuterRef("application"), disabled_at=None)
        related = ("application__user", "application__team", "application__logo")
        rows = self.select_related(*related).defer("application__logo__png")
        return rows.annotate(has_webhooks=Exists(endpoints))


class PendingRequest(models.Model):
    """A valid authorization request that waits for login or consent; URLs hold only its id.

    `must_authenticate_after`: the user must have authenticated later (`prompt=login`, `max_age`).
    `asks_account`: a user who signed in before the request confirms the account (`prompt=select_account`).
    `expected_user_id`: the user of the app's `id_token_hint`. `answered_at`: when the app got its one answer.
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
        """Whether it can still be answered."""
        return self.answered_at is None and now < self.created_at + settings.AUTHORIZATION_REQUEST_LIFETIME


class ClientSession(models.Model):
    """What one browser session of ours is called at one app, as `sid` in id_tokens and logout tokens.

    Only for apps with a `backchannel_logout_uri`. `session`: the name of the browser session
    (`accounts.browser_sessions`). `used_at`: when a code was issued for it last. The database does not check `user` and
    `application`: a release that does not know this table deletes them, too.
    """

    sid = models.CharField(max_length=SID_LENGTH, unique=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="client_sessions",
        db_index=False,
        db_constraint=False,
    )
    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="client_sessions", db_constraint=False
    )
    session = models.CharField(max_length=SID_LENGTH)
    created_at = models.DateTimeField()
    used_at = models.DateTimeField()

    class Meta:
        constraints = [
            # It finds the sessions of a user, too, so that the foreign key needs no index.
            models.UniqueConstraint(fields=["user", "session", "application"], name="client_session_one_for_each"),
        ]
        indexes = [models.Index(fields=["used_at"], name="client_session_used")]

    def __str__(self) -> str:
        return f"Session #{self.pk} at {self.application}"


# One sign-in has one `token_family`: its code, access tokens and refresh tokens. `sid`: of its `ClientSession`, empty
# for an app that had no `backchannel_logout_uri` when the code was issued.


class Grant(AbstractGrant):
    """An authorization code; `code` is its SHA-256. Used codes stay, so that a replay is recognized."""

    code = models.CharField(max_length=64, unique=True)
    nonce = models.TextField(blank=True, default="")
    auth_time = models.BigIntegerField(help_text="When the user signed in, in UNIX seconds.")
    token_family = models.UUIDField(default=uuid.uuid4, editable=False)
    sid = models.CharField(max_length=SID_LENGTH, default="", db_default="", blank=True, editable=False)
    used_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Grant]] = models.Manager()

    class Meta:
        # None names `used_at`, so that using a code up touches no index.
        indexes = [models.Index(fields=["expires"], name="grant_expires")]

    def __str__(self) -> str:
        return f"Code #{self.pk}"


class AccessToken(AbstractAccessToken):
    """An opaque access token; `token` stays empty, `token_checksum` is its SHA-256. Revoking deletes the row."""

    source_refresh_token = None  # `token_family` replaces it
    id_token = None  # id_tokens are not stored
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens")
    token_family = models.UUIDField(editable=False)

    objects: ClassVar[models.Manager[AccessToken]] = models.Manager()

    class Meta:
        indexes = [models.Index(fields=["expires"], name="access_token_expires")]

    def __str__(self) -> str:
        return f"Access token #{self.pk}"


class RefreshToken(AbstractRefreshToken):
    """An opaque refresh token. `scope` is what the user granted; `revoked` is when it was rotated."""

    access_token = None  # `token_family` replaces it
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="refresh_tokens")
    token_family = models.UUIDField(editable=False)
    scope = models.TextField()
    auth_time = models.BigIntegerField(help_text="When the user signed in, in UNIX seconds.")
    expires_at = models.DateTimeField()
    sid = models.CharField(max_length=SID_LENGTH, default="", db_default="", blank=True, editable=False)

    objects: ClassVar[models.Manager[RefreshToken]] = models.Manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token_checksum"], name="refresh_token_unique")]
        indexes = [
            models.Index(fields=["token_family"], name="refresh_token_family"),  # a user may have thousands of families
            models.Index(fields=["expires_at"], name="refresh_token_expires"),
        ]

    def __str__(self) -> str:
        return f"Refresh token #{self.pk}"


class IDToken(AbstractIDToken):
    """The toolkit requires this table. It stays empty: id_tokens are signed, not stored."""

    def __str__(self) -> str:
        return f"ID token #{self.pk}"


class SigningKeyQuerySet(models.QuerySet["SigningKey"]):
    def published(self, now: datetime) -> SigningKeyQuerySet:
        """The key set, newest first."""
        return self.filter(Q(unpublish_at__isnull=True) | Q(unpublish_at__gt=now)).order_by("-created_at", "kid")

    def signing(self) -> SigningKeyQuerySet:
        return self.filter(is_signing=True)


class SigningKey(models.Model):
    """An Ed25519 key pair. Its states: published, signing, replaced (still published), unpublished.

    `signing_since`: since when it signs or signed; None for a key whose tokens never were ours, or count no longer.
    `private_key` is encrypted with SIGNING_KEY_ENCRYPTION_KEYS; `kid` is the RFC 7638 thumbprint.
    """

    kid = models.CharField(max_length=43, primary_key=True)
    public_key = models.CharField(max_length=43, help_text="The 32 bytes in base64url: `x` of the key set.")
    private_key = models.TextField(editable=False)
    is_signing = models.BooleanField(default=False)
    created_at = models.DateTimeField(help_text="Since when the key is in the key set.")
    signing_since = models.DateTimeField(null=True)
    unpublish_at = models.DateTimeField(null=True, help_text="When the key leaves the key set.")

    objects = SigningKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["is_signing"], condition=Q(is_signing=True), name="signing_key_one_signs"),
        ]

    def __str__(self) -> str:
        return self.kid

    def may_sign_from(self) -> datetime:
        """From then on every cached copy of the key set holds the key."""
        return self.created_at + 2 * settings.DISCOVERY_CACHE_TIME

    def state(self, now: datetime) -> str:
        """Return the key's state at `now`."""
        if self.is_signing:
            return "signing"
        if self.unpublish_at is None:
            return "published"
        return "replaced" if now < self.unpublish_at else "unpublished"
