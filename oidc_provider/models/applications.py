"""Client apps and their logos."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from oauth2_provider.models import AbstractApplication, ClientSecretField

from infrastructure.hashing import SecretHasher, new_secret
from oidc_provider import redirects
from oidc_provider.models.teams import Role, Team

if TYPE_CHECKING:
    from jwcrypto.jwk import JWK

EDDSA = "EdDSA"
MAX_NAME_LENGTH = 64
MAX_LINK_LENGTH = 200
MAX_LOGOUT_URI_LENGTH = 512  # of `infrastructure.outbound`, which programs without pages do not load
HINT_LENGTH = 4  # last characters of a secret, by which pages name it; 39 others stay unknown
USABLE = "a.suspended_at IS NULL"  # `Application.is_usable` in SQL, where the app's row is `a`


def new_client_id() -> str:
    """32 lower-case hexadecimal characters."""
    return secrets.token_hex(16)


class AppSecret(NamedTuple):
    """What is known of a secret. `hint`: its last characters, empty for one made before they were kept."""

    changed_at: datetime
    hint: str
    used_at: datetime | None


def matching_secret(secret: str, stored: tuple[str, ...]) -> str | None:
    """Return that of the stored hashes which `secret` has. Constant time for each, one SHA-256."""
    encoded = SecretHasher().encode(secret, "")
    found = [one for one in stored if secrets.compare_digest(encoded, one)]
    return found[0] if found else None


class Application(AbstractApplication):
    """An app that its owner (`user`) registered: a confidential client, authorization code with S256.

    `user` is the owner of record. An app may belong to a `team`, of which `user` is an owner then.
    `redirect_uris` (the toolkit's) holds the redirect URLs with spaces between them; use `redirect_urls`. A second
    secret is accepted beside the first while the app changes from one to the other; `secrets` has both.
    `staging_of`: the live app that this one is the staging app of. `backchannel_logout_uri`: where the app is told that
    a session or a person has signed out, empty for an app that is not.
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
    backchannel_logout_uri = models.CharField(
        max_length=MAX_LOGOUT_URI_LENGTH, default="", db_default="", blank=True, verbose_name="logout URL"
    )

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="applications"
    )
    staging_of = models.OneToOneField(
        "self", on_delete=models.CASCADE, null=True, blank=True, editable=False, related_name="staging"
    )
    is_verified = models.BooleanField(default=False)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    suspension_reason = models.TextField(blank=True, editable=False)
    secret_changed_at = models.DateTimeField(default=timezone.now, editable=False)
    secret_hint = models.CharField(max_length=HINT_LENGTH, default="", db_default="", blank=True, editable=False)
    secret_used_at = models.DateTimeField(null=True, editable=False)
    second_secret = models.CharField(  # hashed like the first; the toolkit's field would hash an empty one
        max_length=255, default="", db_default="", blank=True, editable=False
    )
    second_secret_changed_at = models.DateTimeField(null=True, editable=False)
    second_secret_hint = models.CharField(max_length=HINT_LENGTH, default="", db_default="", blank=True, editable=False)
    second_secret_used_at = models.DateTimeField(null=True, editable=False)

    role: Role | None = None  # no column: of the reader, where `roles.readable_by` read the app

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
            models.CheckConstraint(condition=~Q(staging_of=F("pk")), name="application_is_no_staging_of_itself"),
            models.CheckConstraint(
                condition=Q(second_secret="", second_secret_changed_at=None, second_secret_used_at=None)
                | (~Q(second_secret="") & Q(second_secret_changed_at__isnull=False)),
                name="application_second_secret_is_whole",
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

    @property
    def is_staging(self) -> bool:
        return self.staging_of_id is not None

    @property
    def owner_name(self) -> str:
        """The name that people read: of the team, else of the owner. 1 query for each of the two that is not read."""
        return str(self.team if self.team else self.user.display_name or self.user.username)

    @property
    def other(self) -> Application | None:
        """The staging app of a live one, the live app of a staging one; None where there is none. 1 query."""
        return self.staging_of if self.is_staging else Application.objects.filter(staging_of=self).first()

    def clean(self) -> None:
        """Check the redirect URLs by docs/spec/sign-in.md; the toolkit's own rules differ."""
        problems = redirects.problems_of_all(self.redirect_urls)
        if problems:
            raise ValidationError({"redirect_uris": problems})

    def redirect_uri_allowed(self, uri: str) -> bool:
        return redirects.is_registered(uri, self.redirect_urls)

    @property
    def secrets(self) -> list[AppSecret]:
        """The secrets that are accepted, the older one first."""
        first = AppSecret(self.secret_changed_at, self.secret_hint, self.secret_used_at)
        if self.second_secret_changed_at is None:
            return [first]
        return [first, AppSecret(self.second_secret_changed_at, self.second_secret_hint, self.second_secret_used_at)]

    def check_secret(self, secret: str) -> bool:
        """Constant time, one SHA-256."""
        return matching_secret(secret, (self.client_secret, self.second_secret)) is not None

    def set_new_secret(self, now: datetime) -> str:
        """Set and return a new secret in place of all others, without saving. The field hashes it when it is saved."""
        self.remove_second_secret()
        secret = new_secret()
        self.client_secret, self.secret_hint = secret, secret[-HINT_LENGTH:]
        self.secret_changed_at, self.secret_used_at = now, None
        return secret

    def set_second_secret(self, now: datetime) -> str:
        """Set and return a new secret beside the first, without saving."""
        secret = new_secret()
        self.second_secret, self.second_secret_hint = SecretHasher().encode(secret, ""), secret[-HINT_LENGTH:]
        self.second_secret_changed_at, self.second_secret_used_at = now, None
        return secret

    def remove_first_secret(self) -> None:
        """Let the second secret take the place of the first, without saving."""
        if self.second_secret_changed_at is None:
            raise ValueError("An app has a secret.")
        self.client_secret, self.secret_hint = self.second_secret, self.second_secret_hint
        self.secret_changed_at, self.secret_used_at = self.second_secret_changed_at, self.second_secret_used_at
        self.remove_second_secret()

    def remove_second_secret(self) -> None:
        """Remove it, without saving; where there is none, nothing changes."""
        self.second_secret = self.second_secret_hint = ""
        self.second_secret_changed_at = self.second_secret_used_at = None

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
