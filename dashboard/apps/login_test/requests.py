"""The authorization request of a login test, what the session keeps of it, and the app's built-in callback."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import MutableMapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from accounts.models import User
from oidc_provider.applications import applications
from oidc_provider.models import Application


def callback_url(application: Application) -> str:
    return f"{settings.BASE_URL}{reverse('application_try_callback', args=[application.client_id])}"


def callback_prefix() -> str:
    """What the callbacks of all apps begin with, and no redirect URL of an app's own does."""
    return f"{settings.BASE_URL}{reverse('applications')}"


def is_callback_registered(application: Application) -> bool:
    return callback_url(application) in application.redirect_urls


@transaction.atomic
def add_callback(*, application: Application, by: User) -> None:
    """Add the callback to the redirect URLs. ValidationError({"redirect_urls": ...}), as for an eleventh one."""
    application = applications.hold(application)  # another page may have changed the others
    if not is_callback_registered(application):
        urls = [*application.redirect_urls, callback_url(application)]
        applications.change_redirect_urls(application=application, redirect_urls=urls, by=by)


@transaction.atomic
def remove_callback(*, application: Application, by: User) -> None:
    """Take it off again. ValidationError where it is the only redirect URL of the app."""
    application = applications.hold(application)
    if is_callback_registered(application):
        urls = [url for url in application.redirect_urls if url != callback_url(application)]
        applications.change_redirect_urls(application=application, redirect_urls=urls, by=by)


MISTAKES = (
    ("", "Nothing: a good request"),
    ("profile", "Ask for the scope profile"),
    ("pkce", "Leave PKCE out"),
    ("state", "Leave state out"),
    ("verifier", "Send another code_verifier"),
    ("redirect_uri", "Exchange with another redirect_uri"),
)
GOOD_FOR = timedelta(minutes=20)  # ten for the sign-in, ten for the code
MOST_AT_ONCE = 5  # apps in one session
_KEY = "tries"

Session = MutableMapping[str, Any]  # Django's sessions behave as one; what they keep is JSON


@dataclass(frozen=True)
class LoginTest:
    """A sign-in that is under way. `parameters`: those of the authorization request; `mistake`: one of MISTAKES."""

    parameters: dict[str, str]
    code_verifier: str
    mistake: str
    started_at: float  # UNIX seconds

    def url(self) -> str:
        return f"{reverse('authorize')}?{urlencode(self.parameters)}"

    def is_late(self, now: datetime) -> bool:
        return now.timestamp() - self.started_at > GOOD_FOR.total_seconds()


def begin(application: Application, *, scopes: Sequence[str], prompt: str, mistake: str, now: datetime) -> LoginTest:
    """A new request; nothing is stored yet."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    parameters = {
        "client_id": application.client_id,
        "redirect_uri": callback_url(application),
        "response_type": "code",
        "scope": " ".join([*scopes, "profile"] if mistake == "profile" else scopes),
        "state": secrets.token_urlsafe(16),
        "nonce": secrets.token_urlsafe(16),
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "prompt": prompt,
    }
    left_out = {"pkce": {"code_challenge", "code_challenge_method"}, "state": {"state"}}.get(mistake, set())
    sent = {name: value for name, value in parameters.items() if value and name not in left_out}
    return LoginTest(sent, verifier, mistake, now.timestamp())


def keep(session: Session, application: Application, under_way: LoginTest) -> None:
    _put(session, _KEY, application, asdict(under_way))


def taken(session: Session, application: Application) -> LoginTest | None:
    """Take the running test out of the session, so that a second callback finds none."""
    kept = dict(session.get(_KEY, {}))
    found = kept.pop(application.client_id, None)
    session[_KEY] = kept
    return LoginTest(**found) if found else None


def keep_result(session: Session, application: Application, steps: list[dict[str, Any]]) -> None:
    """`steps`: JSON without a secret."""
    _put(session, f"{_KEY}_done", application, steps)


def result(session: Session, application: Application) -> list[dict[str, Any]] | None:
    """The steps of the last test of this session, or None."""
    done: dict[str, list[dict[str, Any]]] = session.get(f"{_KEY}_done", {})
    return done.get(application.client_id)


def _put(session: Session, key: str, application: Application, value: Any) -> None:
    """Any: JSON."""
    others = [item for item in session.get(key, {}).items() if item[0] != application.client_id]
    session[key] = dict([*others, (application.client_id, value)][-MOST_AT_ONCE:])
