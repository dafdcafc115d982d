"""Signs id_tokens and logout tokens with EdDSA (Ed25519, RFC 8037) and keeps the keys.

Private keys are encrypted at rest with `SIGNING_KEY_ENCRYPTION_KEYS` (the first encrypts, all decrypt).
"""

from __future__ import annotations

import functools
import json
import re
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cryptography.fernet import InvalidToken
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from jwcrypto import jwk, jws
from jwcrypto.common import JWException, base64url_encode
from oauth2_provider.settings import oauth2_settings

from accounts import audit
from infrastructure import encryption
from oidc_provider.errors import SigningUnavailable
from oidc_provider.models import SigningKey

SIGNER_CACHE_SECONDS = 30.0
ID_TOKEN, LOGOUT_TOKEN = "JWT", "logout+jwt"  # `typ` in the header
_PURPOSE = "signing-keys"  # of their encryption
# A replaced key stays published for an id_token's lifetime and this margin: other processes sign with a cached key.
RETIREMENT_MARGIN = timedelta(hours=1)
_KID = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_ENCODER = json.JSONEncoder(separators=(",", ":"))  # `json.dumps` makes one for each value


class KeyNotReady(Exception):
    """A key cannot be signed with or retired now. The message is for the operator."""


@dataclass(frozen=True)
class Signer:
    """The key that signs now, ready to use."""

    kid: str
    private_key: Ed25519PrivateKey

    @functools.cached_property
    def header(self) -> str:
        """The encoded header of every id_token."""
        return self._header(ID_TOKEN)

    @functools.cached_property
    def logout_header(self) -> str:
        """The encoded header of every logout token."""
        return self._header(LOGOUT_TOKEN)

    def _header(self, typ: str) -> str:
        header: str = base64url_encode(_json({"alg": "EdDSA", "kid": self.kid, "typ": typ}))
        return header

    def jwt(self, claims: dict[str, Any]) -> str:
        """Return `claims` as an id_token, a compact JWS; about 25 µs."""
        return self._signed(self.header, claims)

    def logout_jwt(self, claims: dict[str, Any]) -> str:
        """Return `claims` as a logout token, a compact JWS."""
        return self._signed(self.logout_header, claims)

    def _signed(self, header: str, claims: dict[str, Any]) -> str:
        signed = f"{header}.{base64url_encode(_json(claims))}"
        return f"{signed}.{base64url_encode(self.private_key.sign(signed.encode()))}"


@dataclass
class _SignerCache:
    """Saves a query and 100 µs of decryption for every token."""

    signer: Signer | None = None
    read_at: float = 0.0


_cache = _SignerCache()


def signer() -> Signer:
    """Return the key that signs, read at most SIGNER_CACHE_SECONDS ago. SigningUnavailable if there is none."""
    cached = _cache.signer
    if cached is None or time.monotonic() - _cache.read_at > SIGNER_CACHE_SECONDS:
        key = SigningKey.objects.signing().first()
        if key is None:
            raise SigningUnavailable("No signing key: run manage.py signing_keys publish, then signing_keys sign.")
        cached = _cache.signer = Signer(key.kid, _decrypted(key))
        _cache.read_at = time.monotonic()
    return cached


def forget_cached_signer() -> None:
    """Clear the cache, so that the next token reads the signing key again."""
    _cache.signer = None


def key_set(now: datetime) -> dict[str, list[dict[str, str]]]:
    """Return the JSON Web Key Set (RFC 7517): every published key, newest first. 1 query."""
    keys = SigningKey.objects.published(now).values_list("kid", "public_key")
    return {"keys": [_public_jwk(kid, public_key) for kid, public_key in keys]}


def _public_jwk(kid: str, public_key: str) -> dict[str, str]:
    return {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": public_key}


def verified_claims(token: str) -> dict[str, Any] | None:
    """Return the claims of an id_token, expired or not, or None if none of our keys signed it. At most 1 query.

    Keys that have left the key set count for what they signed before, but those that were removed by force.
    """
    try:
        parsed = jws.JWS()
        parsed.allowed_algs = ["EdDSA"]
        parsed.deserialize(token)
        if parsed.jose_header.get("typ") != ID_TOKEN:  # a logout token is signed with the same key
            return None
        kid = str(parsed.jose_header.get("kid"))
        key = SigningKey.objects.filter(kid=kid, signing_since__isnull=False).first() if _KID.match(kid) else None
        if key is None:
            return None
        parsed.verify(jwk.JWK(**_public_jwk(kid, key.public_key)))
        claims = json.loads(parsed.payload)
    except (JWException, ValueError, TypeError, AttributeError):
        return None
    if not isinstance(claims, dict) or claims.get("iss") != settings.BASE_URL:
        return None
    is_late = key.unpublish_at is not None and claims.get("iat", 0) >= key.unpublish_at.timestamp()
    return None if is_late else claims


def publish() -> SigningKey:
    """Create a key and publish it in the key set. It does not sign yet."""
    kid = "-"
    while kid.startswith("-"):  # the command line would read such a kid as an option
        private_key = Ed25519PrivateKey.generate()
        x = base64url_encode(private_key.public_key().public_bytes_raw())
        kid = jwk.JWK(kty="OKP", crv="Ed25519", x=x).thumbprint()  # RFC 7638
    return SigningKey.objects.create(
        kid=kid,
        public_key=x,
        private_key=encryption.cipher(_PURPOSE).encrypt(private_key.private_bytes_raw()).decode(),
        created_at=timezone.now(),
    )


@transaction.atomic
def sign_with(*, kid: str, force: bool = False) -> SigningKey:
    """Let the published key `kid` sign; the earlier key stays published until its id_tokens have expired.

    KeyNotReady: it left the key set, or clients may hold a cached key set without it (ignored with `force`,
    for a compromise).
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
    """Schedule the removal of a key that no longer signs from the key set; with `force` remove it at once.

    A key that is removed by force may be known to others: nothing that it signed counts as ours any more.
    """
    now = timezone.now()
    key = SigningKey.objects.select_for_update().get(kid=kid)
    if key.is_signing:
        raise KeyNotReady("This key signs: let another one sign first.")
    if force:
        key.signing_since, key.unpublish_at = None, now
    elif key.unpublish_at is None:
        key.unpublish_at = now if key.signing_since is None else _last_use(now)
    key.save()
    return key


def ensure_signing_key() -> SigningKey:
    """Return the signing key, created if there is none. For the first start."""
    try:
        with transaction.atomic():
            key = SigningKey.objects.signing().first()
            if key is None:
                key = publish()
                key.is_signing, key.signing_since = True, key.created_at
                key.save()  # the constraint lets one process win
            return key
    except IntegrityError:  # another process was first
        return SigningKey.objects.signing().get()


def check() -> None:
    """SigningUnavailable where id_tokens could not be signed now. For the readiness check."""
    forget_cached_signer()
    signer()


def encrypted_by_earlier(now: datetime) -> list[str]:
    """Return the ids of published keys that the first of SIGNING_KEY_ENCRYPTION_KEYS does not decrypt. 1 query."""
    return [key.kid for key in SigningKey.objects.published(now) if not is_readable(key, by_first=True)]


@transaction.atomic
def reencrypt() -> list[str]:
    """Encrypt every private key with the first of SIGNING_KEY_ENCRYPTION_KEYS; return the ids of changed keys.

    SigningUnavailable, without changes, if a published key cannot be decrypted. An unreadable key that has left the key
    set stays as it is.
    """
    now = timezone.now()
    changed = []
    for key in SigningKey.objects.select_for_update().order_by("kid"):
        is_over = key.unpublish_at is not None and key.unpublish_at <= now
        if is_readable(key, by_first=True) or (is_over and not is_readable(key)):
            continue
        key.private_key = encryption.cipher(_PURPOSE).encrypt(_decrypted(key).private_bytes_raw()).decode()
        key.save(update_fields=["private_key"])
        audit.record("signing_key:reencrypted", by=None, on=key)
        changed.append(key.kid)
    return changed


def unreadable(now: datetime) -> list[str]:
    """Return the ids of published keys that none of SIGNING_KEY_ENCRYPTION_KEYS decrypts. 1 query."""
    return [key.kid for key in SigningKey.objects.published(now) if not is_readable(key)]


def is_readable(key: SigningKey, *, by_first: bool = False) -> bool:
    """Whether one of SIGNING_KEY_ENCRYPTION_KEYS decrypts it; `by_first`: whether the first one does."""
    try:
        encryption.cipher(_PURPOSE, first_only=by_first).decrypt(key.private_key.encode())
    except InvalidToken:
        return False
    return True


def _last_use(now: datetime) -> datetime:
    """Return when the last id_token of a key that stops signing now has expired."""
    return now + timedelta(seconds=oauth2_settings.ID_TOKEN_EXPIRE_SECONDS) + RETIREMENT_MARGIN


def _decrypted(key: SigningKey) -> Ed25519PrivateKey:
    try:
        raw = encryption.cipher(_PURPOSE).decrypt(key.private_key.encode())
    except InvalidToken:
        raise SigningUnavailable(
            f"The signing key {key.kid} cannot be decrypted: none of SIGNING_KEY_ENCRYPTION_KEYS fits."
        ) from None
    return Ed25519PrivateKey.from_private_bytes(raw)


def _json(value: dict[str, Any]) -> bytes:
    return _ENCODER.encode(value).encode()
