"""Client apps and their logos."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from oauth2_provider.models import AbstractApplication, ClientSecretField

from infrastructure.hashing import SecretHasher, new_secret
from oidc_provider import redirects

if TYPE_CHECKING:
    from jwcrypto.jwk import JWK

EDDSA = "EdDSA"
MAX_NAME_LENGTH = 64
MAX_LINK_LENGTH = 200
USABLE = "a.suspended_at IS NULL"  # `Application.is_usable` in SQL, where the app's row is `a`


def new_client_id() -> str:
    """32 lower-case hexadecimal characters."""
    return secrets.token_hex(16)


class Application(AbstractApplication):
    """An app that its owner (`user`) registered: a confidential client, authorization code with S256.

    `redirect_uris` (the toolkit's) holds the redirect URLs with spaces between them; use `redirect_urls`.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="applications")
    client_id = models.CharField(max_length=64, unique=True, default=new_client_id, editable=False)
    client_secret = ClientSecretField(max_length=255, editable=False)  # the toolkit's has two unused indexes
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    client_type = models.CharField(
        max_length=32,
        default=AbstractApplication.CLIENT_CONFIDENTIAL,
        editable=False,
        choices=[(AbstractApplication.CLIENT_CONFIDENTIAL, "Confidential")],
    )
    authorization_grant_type = models.CharField(
        max_length=44,
        default=AbstractApplication.GRANT_AUTHORIZATION_CODE,
        editable=False,
        choices=[(AbstractApplication.GRANT_AUTHORIZATION_CODE, "Authorization code")],
    )
    algorithm = models.CharField(max_length=5, default=EDDSA, editable=False, choices=[(EDDSA, "Ed25519")])

    registered_scopes: list[str] = models.JSONField(default=list)  # type: ignore[assignment]  # a list, always
    homepage_url = models.URLField(blank=True, max_length=MAX_LINK_LENGTH)
    privacy_url = models.URLField(blank=True, max_length=MAX_LINK_LENGTH)
    terms_url = models.URLField(blank=True, max_length=MAX_LINK_LENGTH)
    support_url = models.URLField(blank=True, max_length=MAX_LINK_LENGTH)

    is_verified = models.BooleanField(default=False)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    suspension_reason = models.TextField(blank=True, editable=False)
    secret_changed_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager[Application]] = models.Manager()

    class Meta:
        permissions = [
            ("suspend_application", "Can suspend and restore an app"),
            ("verify_application", "Can verify an app"),
            ("reset_secret_application", "Can reset an app's secret"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    client_type=AbstractApplication.CLIENT_CONFIDENTIAL,
                    authorization_grant_type=AbstractApplication.GRANT_AUTHORIZATION_CODE,
                    hash_client_secret=True,
                    skip_authorization=False,
                    algorithm=EDDSA,
                ),
                name="application_is_confidential",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def redirect_urls(self) -> list[str]:
        return str(self.redirect_uris).split()

    @property
    def is_suspended(self) -> bool:
        return self.suspended_at is not None

    def clean(self) -> None:
        """Check the redirect URLs by docs/spec/sign-in.md; the toolkit's own rules differ."""
        problems = redirects.problems_of_all(self.redirect_urls)
        if problems:
            raise ValidationError({"redirect_uris": problems})

    def redirect_uri_allowed(self, uri: str) -> bool:
        return redirects.is_registered(uri, self.redirect_urls)

    def check_secret(self, secret: str) -> bool:
        """Constant time, one SHA-256."""
        return SecretHasher().verify(secret, self.client_secret)

    def set_new_secret(self, now: datetime) -> str:
        """Set and return a new secret, without saving. The field hashes it when it is saved."""
        secret = new_secret()
        self.client_secret = secret
        self.secret_changed_at = now
        return secret

    def is_usable(self, request: Any = None) -> bool:
        """Whether the app may sign users in, get tokens and use them; `USABLE` is the same rule in SQL.

        `request`: oauthlib's (untyped), passed by the toolkit.
        """
        return not self.is_suspended

    @property
    def jwk_key(self) -> JWK:
        raise ImproperlyConfigured("id_tokens are signed by oidc_provider.token.signing, not by the toolkit.")


class ApplicationLogo(models.Model):
    """A small PNG that `logos` encoded, in its own table so that no busy query reads it."""

    application = models.OneToOneField(Application, on_delete=models.CASCADE, related_name="logo", primary_key=True)
    png = models.BinaryField()
    updated_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Logo of {self.application}"
