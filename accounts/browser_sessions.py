"""Names browser sessions, and calls the receivers of `sessions_ended` when sessions end.

A session's key changes at a sign-in and with a new password; its name stays until the sign-out. The name is a random
value in the session's data and occurs nowhere else but in rows that apps above `accounts` keep of the session.
"""

from __future__ import annotations

import secrets
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import logout  # noqa: TID251 - the one place
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest

from accounts import hooks

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

NAME = "browser_session"  # session key
SIGNED_IN_AT = "signed_in_at"  # session key, UNIX time: of a sign-up too, of which allauth keeps no record


def name_of(session: SessionBase) -> str:
    """Return the name; empty for a visitor's session, and for one that began before sessions had names."""
    return str(session.get(NAME, ""))


def ensure_name(session: SessionBase) -> str:
    """Return the name, made where the session began before sessions had names."""
    if NAME not in session:
        session[NAME] = secrets.token_urlsafe(16)
    return name_of(session)


def name_of_key(session_key: str) -> str:
    """Return the name of the session with this key; empty where it has none or is gone. 1 query, or a read of Redis."""
    return name_of(import_module(settings.SESSION_ENGINE).SessionStore(session_key))


@transaction.atomic
def sign_out(request: HttpRequest) -> None:
    """Sign the browser out, with what the receivers write: both, or neither where Redis is away."""
    logout(request)


def ended(user: AbstractBaseUser, name: str) -> None:
    """Call the receivers for one session; nothing where it has no name. Call it before the session is deleted."""
    if name:
        hooks.call("sessions_ended", user, name=name)


def all_ended(user: AbstractBaseUser, *, kept: str = "") -> None:
    """Call the receivers for every session of the user but the one named `kept`."""
    hooks.call("sessions_ended", user, kept=kept)


# `kwargs` of each receiver: the other arguments of Django's signal.


@receiver(user_logged_in, dispatch_uid="accounts.browser_sessions.signed_in")
def note_sign_in(request: HttpRequest, **kwargs: Any) -> None:
    """Name the session, and note when. No query: a sign-in saves the session anyway."""
    ensure_name(request.session)
    request.session[SIGNED_IN_AT] = time.time()


@receiver(user_logged_out, dispatch_uid="accounts.browser_sessions.signed_out")
def note_sign_out(request: HttpRequest, user: AbstractBaseUser | None, **kwargs: Any) -> None:
    """Django calls it just before it deletes the session."""
    if user is not None:
        ended(user, name_of(request.session))
