"""Keys that sign id_tokens."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q

# How long a key stays published after another one took over: its last id_token lives 10 hours, and other processes
# may have gone on signing with it for the time they cache keys.
RETIREMENT_MARGIN = timedelta(hours=1)


class SigningKeyQuerySet(models.QuerySet["SigningKey"]):
    def published(self, now: datetime) -> SigningKeyQuerySet:
        """The key set: the newest first."""
        return self.filter(Q(unpublish_at__isnull=True) | Q(unpublish_at__gt=now)).order_by("-created_at", "kid")

    def signing(self) -> SigningKeyQuerySet:
        return self.filter(is_signing=True)


class SigningKey(models.Model):
    """An Ed25519 key pair. Its life: published, signing, replaced (still published), unpublished.

    `private_key` is encrypted with a key of its own setting; `kid` is the RFC 7638 thumbprint.
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
        """Every cached copy of the key set holds the key by then."""
        return self.created_at + 2 * settings.DISCOVERY_CACHE_TIME

    def state(self, now: datetime) -> str:
        """One word of the key's life at `now`."""
        if self.is_signing:
            return "signing"
        if self.unpublish_at is None:
            return "published"
        return "replaced" if now < self.unpublish_at else "unpublished"
