"""The body of an event and its signature, as Standard Webhooks has them, and the secrets of endpoints."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from datetime import UTC, datetime

from accounts.models import WebhookDelivery, WebhookEndpoint
from infrastructure import encryption

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


def body_of(delivery: WebhookDelivery) -> bytes:
    """Return the body, the same in every attempt."""
    at = delivery.created_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    content = {"type": delivery.type, "timestamp": at, "data": delivery.data}
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def headers_of(endpoint: WebhookEndpoint, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of an attempt: two signatures while a rotated secret is still valid. InvalidToken."""
    stored = [endpoint.secret, *([endpoint.previous_secret] if endpoint.signs_with_previous(now) else [])]
    timestamp = str(int(now.timestamp()))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_signature(decrypted(secret), signed) for secret in stored),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"
