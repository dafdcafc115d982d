"""The request that tells an app of a logout (OpenID Connect Back-Channel Logout 1.0 §2.4 and §2.5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.utils import timezone

from oidc_provider.models import Application
from oidc_provider.token import signing

LIFETIME = timedelta(minutes=2)
EVENT = "http://schemas.openid.net/event/backchannel-logout"
HEADERS = {"Content-Type": "application/x-www-form-urlencoded"}

Sent = tuple[str, dict[str, str], bytes]  # URL, headers, body


def request_of(*, client_id: str, subject: str, sid: str, message_id: str) -> Sent | None:
    """Return the request, with a token that is signed now; None for an app without a logout URL, or a deleted one.

    `sid`: of the session that has ended, empty for all sessions of the person. `message_id`: the same in every attempt,
    so that the app recognizes a repeated token by its `jti`. Raises SigningUnavailable. 1 query.
    """
    apps = Application.objects.filter(client_id=client_id)
    url = apps.values_list("backchannel_logout_uri", flat=True).first()
    if not url:
        return None
    token = signing.signer().logout_jwt(_claims(client_id, subject, sid, message_id))
    return url, dict(HEADERS), urlencode({"logout_token": token}).encode()


def _claims(client_id: str, subject: str, sid: str, message_id: str) -> dict[str, Any]:
    """Return the claims. Without `nonce`: no logout token passes for an id_token."""
    issued_at = int(timezone.now().timestamp())
    return {
        "iss": settings.BASE_URL,
        "aud": client_id,
        "iat": issued_at,
        "exp": issued_at + int(LIFETIME.total_seconds()),
        "jti": message_id,
        "sub": subject,
        **({"sid": sid} if sid else {}),
        "events": {EVENT: {}},
    }
