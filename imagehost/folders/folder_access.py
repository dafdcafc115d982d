"""Access to folders with a password: the check, the limits of guesses, and unlocked folders in sessions.

The visitor's session keeps an unlock, bound to one folder and its current password: a changed password invalidates it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts import rate_limits
from accounts.models import User
from accounts.sign_up import passwords
from imagehost.models import Folder
from infrastructure import limits
from infrastructure.requests import request_context

LIFETIME = timedelta(hours=1)
MAX_UNLOCKED = 20  # folders in a session; the oldest unlocks are dropped
SESSION_KEY = "unlocked_folders"  # {folder id: [fingerprint of its password, expiry in UNIX seconds]}

Viewer = User | AnonymousUser


class WrongPassword(Exception):
    """The password is not the folder's."""


class TooManyGuesses(Exception):
    """No password is checked for `seconds_left`."""

    def __init__(self, seconds_left: int) -> None:
        super().__init__(seconds_left)
        self.seconds_left = seconds_left


def is_open(folder: Folder, *, viewer: Viewer, session: SessionBase, now: datetime) -> bool:
    """Return whether the viewer may see the folder's files. Reads viewer and session only where there is a password."""
    if not folder.is_password_enabled or viewer.pk == folder.owner_id:
        return True
    kept, until = session.get(SESSION_KEY, {}).get(folder.pk, ("", 0))
    expected = [_fingerprint(folder, secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    return any(constant_time_compare(kept, each) for each in expected) and now.timestamp() < until


def unlock(folder: Folder, password: str, *, viewer: Viewer, session: SessionBase, now: datetime) -> None:
    """Open the folder for this session for an hour. Raises WrongPassword, TooManyGuesses, LimitsUnavailable,
    PasswordsBusy."""
    address = request_context.address()
    seconds_left = limits.hit(
        rate_limits.FOLDER_GUESSES.of(f"{folder.pk}:{address}"),
        rate_limits.FOLDER_GUESSES_OF_ADDRESS.of(address),
        rate_limits.FOLDER_GUESSES_AT_FOLDER.of(folder.pk),
    )
    if seconds_left:
        raise TooManyGuesses(seconds_left)

    def upgrade(password: str) -> None:
        """Replace a hash of an earlier release, unless the owner changes the password concurrently."""
        before, folder.password_hash = folder.password_hash, make_password(password)
        Folder.objects.filter(pk=folder.pk, password_hash=before).update(password_hash=folder.password_hash)

    if len(password) > passwords.MAX_LENGTH or not check_password(password, folder.password_hash, upgrade):
        raise WrongPassword
    if viewer.is_anonymous:
        session.cycle_key()  # against session fixation
        session.set_expiry(0)  # until the browser is closed
    until = (now + LIFETIME).timestamp()
    kept = {key: value for key, value in session.get(SESSION_KEY, {}).items() if value[1] > now.timestamp()}
    newest = sorted(
        [*kept.items(), (folder.pk, [_fingerprint(folder, settings.SECRET_KEY), until])], key=lambda item: item[1][1]
    )
    session[SESSION_KEY] = dict(newest[-MAX_UNLOCKED:])


def _fingerprint(folder: Folder, secret: str) -> str:
    """Return a fingerprint of the password's hash, which stays out of the session."""
    value = f"{folder.pk}:{folder.password_hash}"
    return salted_hmac("imagehost.unlocks", value, secret=secret, algorithm="sha256").hexdigest()
