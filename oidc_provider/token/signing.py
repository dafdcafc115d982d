"""Signs id_tokens with EdDSA (Ed25519, RFC 8037) and keeps the keys.

Private keys are encrypted at rest with `SIGNING_KEY_ENCRYPTION_KEYS` (the first encrypts, all decrypt).
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from jwcrypto import jwk, jws
from jwcrypto.common import JWException
from oauth2_provider.settings import oauth2_settings

from accounts import audit
from oidc_provider.errors import SigningUnavailable
from oidc_provider.models import RETIREMENT_MARGIN, SigningKey

SIGNER_CACHE_SECONDS = 30.0


class KeyNotReady(Exception):
    """A key cannot take the asked-for step yet, or any more. The message is for the operator."""


@dataclass(frozen=True)
class Signer:
    """The key that signs now, ready to use."""

    kid: str
    private_key: Ed25519PrivateKey

    @functools.cached_property
    def header(self) -> str:
        """The first part of every JWS."""
        return _base64url(_json({"alg": "EdDSA", "kid": self.kid, "typ": "JWT"}))

    def jwt(self, claims: dict[str, Any]) -> str:
        """`claims` as a compact JWS; about 25 µs."""
        signed = f"{self.header}.{_base64url(_json(claims))}"
        return f"{signed}.{_base64url(self.private_key.sign(signed.encode()))}"


@dataclass
class _SignerCache:
    """Reading and decrypting the key for every token would cost a query and 100 µs."""

    signer: Signer | None = None
    read_at: float = 0.0


_cache = _SignerCache()


def signer() -> Signer:
    """The key that signs now, at most SIGNER_CACHE_SECONDS old. SigningUnavailable where there is none."""
    cached = _cache.signer
    if cached is None or time.monotonic() - _cache.read_at > SIGNER_CACHE_SECONDS:
        key = SigningKey.objects.signing().first()
        if key is None:
            raise SigningUnavailable("No signing key: run manage.py signing_keys publish, then signing_keys sign.")
        cached = _cache.signer = Signer(key.kid, _decrypted(key))
        _cache.read_at = time.monotonic()
    return cached


def forget_cached_signer() -> None:
    """Read the signing key anew at the next token."""
    _cache.signer = None


def key_set(now: datetime) -> dict[str, list[dict[str, str]]]:
    """The JSON Web Key Set (RFC 7517): every published key, the newest first. 1 query."""
    return {
        "keys": [
            {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": public_key}
            for kid, public_key in SigningKey.objects.published(now).values_list("kid", "public_key")
        ]
    }


def verified_claims(token: str, now: datetime) -> dict[str, Any] | None:
    """The claims of an id_token of ours, expired or not; None where no published key signed it."""
    try:
        parsed = jws.JWS()
        parsed.allowed_algs = ["EdDSA"]
        parsed.deserialize(token)
        kid = parsed.jose_header.get("kid")
        for published in key_set(now)["keys"]:
            if published["kid"] == kid:
                parsed.verify(jwk.JWK(**published))
                claims = json.loads(parsed.payload)
                return claims if isinstance(claims, dict) and claims.get("iss") == settings.BASE_URL else None
    except (JWException, ValueError, TypeError, AttributeError):
        return None
    return None


def publish() -> SigningKey:
    """Make a key and put it into the key set. It does not sign yet."""
    kid = "-"
    while kid.startswith("-"):  # a command would take such a kid for an option
        private_key = Ed25519PrivateKey.generate()
        x = _base64url(private_key.public_key().public_bytes_raw())
        kid = thumbprint(x)
    return SigningKey.objects.create(
        kid=kid,
        public_key=x,
        private_key=_fernet().encrypt(private_key.private_bytes_raw()).decode(),
        created_at=timezone.now(),
    )


@transaction.atomic
def sign_with(*, kid: str, force: bool = False) -> SigningKey:
    """Let the published key `kid` sign from now on; the one before stays published until its id_tokens are dead.

    KeyNotReady: it left the key set, or clients may still hold a cached key set without it (`force` overrules that:
    after a compromise).
    """
    now = timezone.now()
    key = SigningKey.objects.select_for_update().get(kid=kid)
    if key.unpublish_at is not None and key.unpublish_at <= now:
        raise KeyNotReady("This key has left the key set.")
    if SigningKey.objects.signing().exclude(kid=kid).exists() and now < key.may_sign_from() and not force:
        raise KeyNotReady(
            f"Clients may hold a cached key set without this key until {key.may_sign_from():%H:%M:%S} UTC."
        )
    SigningKey.objects.signing().exclude(kid=kid).update(is_signing=False, unpublish_at=_last_use(now))
    key.is_signing, key.unpublish_at = True, None
    key.signing_since = key.signing_since or now
    key.save()
    forget_cached_signer()
    return key


@transaction.atomic
def retire(*, kid: str, force: bool = False) -> SigningKey:
    """Take a key that no longer signs out of the key set at its time, or, with `force`, at once."""
    now = timezone.now()
    key = SigningKey.objects.select_for_update().get(kid=kid)
    if key.is_signing:
        raise KeyNotReady("This key signs: let another one sign first.")
    if force:
        key.unpublish_at = now
    elif key.unpublish_at is None:
        key.unpublish_at = now if key.signing_since is None else _last_use(now)
    key.save()
    return key


def ensure_signing_key() -> SigningKey:
    """The key that signs; made where there is none. For the first start."""
    try:
        with transaction.atomic():
            key = SigningKey.objects.signing().first()
            if key is None:
                key = publish()
                key.is_signing, key.signing_since = True, key.created_at
                key.save()  # the constraint lets one process win
            return key
    except IntegrityError:  # another one did
        return SigningKey.objects.signing().get()


def check() -> None:
    """SigningUnavailable where id_tokens could not be signed now. For the readiness check."""
    forget_cached_signer()
    signer()


def encrypted_by_earlier(now: datetime) -> list[str]:
    """The ids of published keys that the first of SIGNING_KEY_ENCRYPTION_KEYS does not decrypt. 1 query."""
    return [key.kid for key in SigningKey.objects.published(now) if not _is_by_first(key)]


@transaction.atomic
def reencrypt() -> list[str]:
    """Encrypt every private key with the first of SIGNING_KEY_ENCRYPTION_KEYS; the ids of those that changed.

    SigningUnavailable where a key of the key set cannot be decrypted: then nothing changes. A key that has left the key
    set is never used again: it stays as it is where no secret fits.
    """
    now = timezone.now()
    changed = []
    for key in SigningKey.objects.select_for_update().order_by("kid"):
        is_over = key.unpublish_at is not None and key.unpublish_at <= now
        if _is_by_first(key) or (is_over and not is_readable(key)):
            continue
        key.private_key = _fernet().encrypt(_decrypted(key).private_bytes_raw()).decode()
        key.save(update_fields=["private_key"])
        audit.record("signing_key:reencrypted", by=None, on=key)
        changed.append(key.kid)
    return changed


def unreadable(now: datetime) -> list[str]:
    """The ids of published keys that none of SIGNING_KEY_ENCRYPTION_KEYS decrypts. 1 query."""
    return [key.kid for key in SigningKey.objects.published(now) if not is_readable(key)]


def is_readable(key: SigningKey) -> bool:
    """Whether one of SIGNING_KEY_ENCRYPTION_KEYS decrypts it."""
    try:
        _decrypted(key)
    except SigningUnavailable:
        return False
    return True


def thumbprint(x: str) -> str:
    """RFC 7638: SHA-256 over the required members in order, without white space."""
    return _base64url(hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest())


def _last_use(now: datetime) -> datetime:
    """When the last id_token that a key signs now has expired everywhere."""
    return now + timedelta(seconds=oauth2_settings.ID_TOKEN_EXPIRE_SECONDS) + RETIREMENT_MARGIN


def _decrypted(key: SigningKey) -> Ed25519PrivateKey:
    try:
        raw = _fernet().decrypt(key.private_key.encode())
    except InvalidToken:
        raise SigningUnavailable(
            f"The signing key {key.kid} cannot be decrypted: none of SIGNING_KEY_ENCRYPTION_KEYS fits."
        ) from None
    return Ed25519PrivateKey.from_private_bytes(raw)


def _is_by_first(key: SigningKey) -> bool:
    try:
        _fernets()[0].decrypt(key.private_key.encode())
    except InvalidToken:
        return False
    return True


def _fernet() -> MultiFernet:
    return MultiFernet(_fernets())


def _fernets() -> list[Fernet]:
    """One for each of SIGNING_KEY_ENCRYPTION_KEYS."""
    return [
        Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"signing-keys:{secret}".encode()).digest()))
        for secret in settings.SIGNING_KEY_ENCRYPTION_KEYS
    ]


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
