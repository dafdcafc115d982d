"""What an app learns about a user, scope by scope. The same in the id_token and at userinfo.

Source: docs/spec/sign-in.md, "An app".
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from django.conf import settings


class Subject(NamedTuple):
    """What claims are made of; read along with a token by one statement (token_queries.py).

    `picture`: its URL, "" where there is none. `connections`: the linked accounts in the claim's own shape.
    """

    id: str
    is_active: bool
    uid: int
    username: str
    display_name: str
    email: str
    is_email_verified: bool
    picture: str
    connections: list[dict[str, str]]


def of(subject: Subject, scopes: Collection[str]) -> dict[str, Any]:
    """The claims that `scopes` allow, with `sub` always among them."""
    claims: dict[str, Any] = {"sub": subject.id}
    if "identify" in scopes:
        claims["uid"] = subject.uid
        claims["name"] = subject.display_name or subject.username
        claims["preferred_username"] = subject.username
        if subject.picture:
            claims["picture"] = subject.picture
        claims["profile"] = f"{settings.BASE_URL}/{subject.username}"
    if "email" in scopes and subject.email:
        claims["email"] = subject.email
        claims["email_verified"] = subject.is_email_verified
    if "connections" in scopes:
        claims["connections"] = subject.connections
    return claims
