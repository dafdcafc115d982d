"""Passwords of folders: who needs none, the guesses, and the sessions that guessed right.

An unlock is kept in the visitor's session, bound to one folder and to the password that it has now: it opens no other
folder, and a changed password locks everybody out again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts import client_address, limits
from accounts.models import User
from imagehost.models import MAX_PASSWORD_LENGTH, Folder

LIFETIME = timedelta(hours=1)
MAX_UNLOCKED = 20  # folders in a session; the oldest are locked again
SESSION_KEY = "unlocked_folders"  # {folder id: [print of its password, until when in UNIX seconds]}

Viewer = User | AnonymousUser


class WrongPassword(Exception):
    """The folder stays locked."""


class TooManyGuesses(Exception):
    """Not even the right password is looked at for `seconds_left`."""

    def __init__(self, seconds_left: int) -> None:
        super().__init__(seconds_left)
        self.seconds_left = seconds_left


def is_open(folder: Folder, *, viewer: Viewer, session: SessionBase, now: datetime) -> bool:
    """Whether the viewer may see what the folder holds. Without a password neither the viewer nor session is asked."""
    if not folder.is_password_enabled or viewer.pk == folder.owner_id:
        return True
    kept_print, until = session.get(SESSION_KEY, {}).get(folder.pk, ("", 0))
    prints = [_print(folder, secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    return any(constant_time_compare(kept_print, each) for each in prints) and now.timestamp() < until


def unlock(folder: Folder, password: str, *, viewer: Viewer, session: SessionBase, now: datetime) -> None:
    """Open the folder for this session, an hour long. WrongPassword, TooManyGuesses; LimitsUnavailable as `limits`."""
    address = client_address.current.get()
    seconds_left = limits.hit(
        limits.FOLDER_GUESSES.of(f"{folder.pk}:{address}"),
        limits.FOLDER_GUESSES_OF_ADDRESS.of(address),
        limits.FOLDER_GUESSES_AT_FOLDER.of(folder.pk),
    )
    if seconds_left:
        raise TooManyGuesses(seconds_left)
    if len(password) > MAX_PASSWORD_LENGTH or not check_password(password, folder.password_hash):
        raise WrongPassword
    if viewer.is_anonymous:
        session.cycle_key()  # against session fixation
        session.set_expiry(0)  # it ends with the browser
    until = (now + LIFETIME).timestamp()
    kept = {key: value for key, value in session.get(SESSION_KEY, {}).items() if value[1] > now.timestamp()}
    newest = sorted(
        [*kept.items(), (folder.pk, [_print(folder, settings.SECRET_KEY), until])], key=lambda item: item[1][1]
    )
    session[SESSION_KEY] = dict(newest[-MAX_UNLOCKED:])


def _print(folder: Folder, secret: str) -> str:
    """Of the password's hash, which itself stays where it is."""
    value = f"{folder.pk}:{folder.password_hash}"
    return salted_hmac("imagehost.unlocks", value, secret=secret, algorithm="sha256").hexdigest()
