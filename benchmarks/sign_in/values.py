"""Deterministic users, apps, codes and tokens: every server is given the same ones, in its own tables.

Token n belongs to user n modulo `users`, and each user has approved one app: user n the app n modulo APPS.
"""

from __future__ import annotations

import base64
import hashlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

APPS = 10
REDIRECT_URL = "https://app.example.org/callback"
SCOPES = ("openid", "identify", "email", "offline_access")
CODE, REFRESH, ACCESS = "code", "refresh", "access"
CODE_LIFETIME = timedelta(hours=6)  # a run takes longer than the ten minutes that a code is good for
ACCESS_LIFETIME = timedelta(hours=6)
REFRESH_LIFETIME = timedelta(days=30)


@dataclass(frozen=True)
class App:
    client_id: str
    client_secret: str

    @property
    def basic(self) -> str:
        """The header Authorization with which the app proves itself."""
        return "Basic " + base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()


@dataclass(frozen=True)
class Plan:
    """`users`: how many have approved an app. `tokens`: how many codes, refresh and access tokens of each kind."""

    users: int
    tokens: int
    now: datetime

    @classmethod
    def of(cls, users: int, tokens: int) -> Plan:
        return cls(users, tokens, datetime.fromtimestamp(int(time.time()), UTC))

    def user_of(self, token: int) -> int:
        return token % self.users

    def app_of(self, token: int) -> int:
        return app_of(self.user_of(token))


def app_of(user: int) -> int:
    return user % APPS


def app(number: int) -> App:
    return App(sha256(f"client {number}").hex()[:32], secret("client secret", number))


def secret(kind: str, number: int) -> str:
    """The value of a code or token: 43 characters, as `secrets.token_urlsafe(32)` makes them."""
    return base64url(sha256(f"{kind} {number}"))


def verifier(code: int) -> str:
    return secret("code verifier", code)


def challenge(code: int) -> str:
    """RFC 7636 with S256."""
    return base64url(sha256(verifier(code)))


def sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
