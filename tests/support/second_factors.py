"""An authenticator app, and keys without a device, for tests."""

import time

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value

from accounts.models import User

PERIOD = 30  # seconds


def code_of(secret: str) -> str:
    """What the app shows now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // PERIOD)))


def with_app(user: User) -> str:
    """Give the user an authenticator app; its secret."""
    secret: str = generate_totp_secret()
    TOTP.activate(user, secret)
    return secret


def with_key(user: User) -> Authenticator:
    """Give the user a security key that no test can use: only its row counts."""
    data = {"name": "A key", "credential": {"clientExtensionResults": {"credProps": {"rk": False}}}}
    key: Authenticator = Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)
    return key
