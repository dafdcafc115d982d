"""The body of an event and its signature, as Standard Webhooks has them, and the secrets of endpoints."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator
from datetime import datetime

from cryptography.fernet import InvalidToken, MultiFernet
from django.utils import timezone

from accounts import audit
from accounts.models import WebhookDelivery, WebhookEndpoint
from infrastructure import encryption, timestamps

PREFIX = "whsec_"
_PURPOSE = "webhooks"


def new_secret() -> str:
    """Return 256 random bits as receivers get them: `whsec_` and Base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def encrypted(secret: str) -> str:
    return encryption.cipher(_PURPOSE).encrypt(secret.encode()).decode()


def decrypted(stored: str, *, first_only: bool = False) -> str:
    """Return the secret. InvalidToken: no key of SIGNING_KEY_ENCRYPTION_KEYS fits; `first_only`: the first does not."""
    return encryption.cipher(_PURPOSE, first_only=first_only).decrypt(stored.encode()).decode()


def unreadable() -> int:
    """Return the number of endpoints whose secret no key of SIGNING_KEY_ENCRYPTION_KEYS decrypts. 1 query."""
    return _count_not_decrypted_by(encryption.cipher(_PURPOSE))


def encrypted_by_earlier() -> int:
    """Return the number of endpoints whose secret the first of these keys does not decrypt. 1 query."""
    return _count_not_decrypted_by(encryption.cipher(_PURPOSE, first_only=True))


def reencrypt() -> int:
    """Encrypt the secrets of endpoints with the first of SIGNING_KEY_ENCRYPTION_KEYS; return how many changed.

    One that cannot be decrypted stays as it is. 1 query, and 1 for each change.
    """
    changed = 0
    for endpoint in _with_secrets():
        changed += sum(_reencrypt(endpoint, column) for column in ("secret", "previous_secret"))
    if changed:
        event = audit.event("webhook:reencrypted", by=None, on=WebhookEndpoint(), count=changed)
        event.object_id, event.object_name = "", "Secrets of webhooks"
        event.save(force_insert=True)
    return changed


def _reencrypt(endpoint: WebhookEndpoint, column: str) -> int:
    """Encrypt one secret anew, unless its owner has rotated it since it was read. 1 query for a change."""
    stored: str = getattr(endpoint, column)
    if not stored or not _fails(encryption.cipher(_PURPOSE, first_only=True), stored):
        return 0
    try:
        changed = encrypted(decrypted(stored))
    except InvalidToken:
        return 0
    return WebhookEndpoint.objects.filter(pk=endpoint.pk, **{column: stored}).update(**{column: changed})


def _with_secrets() -> Iterator[WebhookEndpoint]:
    return WebhookEndpoint.objects.only("secret", "previous_secret", "previous_secret_until").order_by("pk").iterator()


def _count_not_decrypted_by(cipher: MultiFernet) -> int:
    now = timezone.now()
    return sum(any(_fails(cipher, secret) for secret in _in_use(endpoint, now)) for endpoint in _with_secrets())


def _in_use(endpoint: WebhookEndpoint, now: datetime) -> list[str]:
    return [endpoint.secret, *([endpoint.previous_secret] if endpoint.signs_with_previous(now) else [])]


def _fails(cipher: MultiFernet, stored: str) -> bool:
    try:
        cipher.decrypt(stored.encode())
    except InvalidToken:
        return True
    return False


def body_of(delivery: WebhookDelivery) -> bytes:
    """Return the body, the same in every attempt."""
    content = {"type": delivery.type, "timestamp": timestamps.iso(delivery.created_at), "data": delivery.data}
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def headers_of(endpoint: WebhookEndpoint, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of an attempt: two signatures while a rotated secret is still valid. InvalidToken."""
    timestamp = str(int(now.timestamp()))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_signature(decrypted(secret), signed) for secret in _in_use(endpoint, now)),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"
