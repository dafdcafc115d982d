"""Browsers that have signed in to an account: wrong passwords of other people do not lock the account for them, and no
email tells of a sign-in there.

A signed cookie names the browser and, by digests, the accounts; nothing is stored on the server.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from accounts.models import User
from infrastructure.hashing import digest

COOKIE = f"{settings.NARROW_COOKIE_PREFIX}known_device"
PATH = "/accounts/"
LIFETIME = timedelta(days=365)
MAX_LOGINS = 15  # ids, names and addresses in one cookie; the oldest are dropped


@dataclass(frozen=True)
class Device:
    """`logins`: digests of the ids, names and addresses that have signed in. `key`: random, for limits."""

    key: str
    logins: tuple[str, ...] = ()


def of(request: HttpRequest) -> Device | None:
    """Return the device that the cookie names; None where it is missing, too old or changed."""
    try:
        key, *logins = signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE, max_age=LIFETIME)
    except signing.BadSignature:
        return None
    return Device(key, tuple(logins))


def key_for(request: HttpRequest, login: str) -> str:
    """Return the key of the device where `login`, a name or an address, has signed in there before; else ""."""
    device = of(request)
    return device.key if device and _digest(login) in device.logins else ""


def knows(request: HttpRequest, user: User) -> bool:
    """Return whether the user has signed in there before, in this generation of browsers.

    A cookie of an earlier release has no id. One name or address is not enough then: another account may have had it.
    """
    device = of(request)
    if device is None:
        return False
    of_id, *of_logins = _own(user)
    return of_id in device.logins or (user.browser_generation == 0 and {*of_logins} <= {*device.logins})


def remember(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Add the user to the accounts of this browser."""
    device = of(request) or Device(secrets.token_urlsafe(16))
    own = _own(user)
    logins = [*(known for known in device.logins if known not in own), *own][-MAX_LOGINS:]
    response.set_cookie(
        COOKIE,
        signing.dumps([device.key, *logins], salt=COOKIE),
        max_age=LIFETIME,
        path=PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _own(user: User) -> list[str]:
    """Return the digests of the id with its generation, the username and, where there is one, the address."""
    # No name has a colon, so none is another account's id.
    logins = [f"id:{user.pk}:{user.browser_generation}", user.username, user.email]
    return [_digest(login) for login in logins if login]


def _digest(login: str) -> str:
    return digest(login.lower())[:16]
