"""The authorization request of a try, and what is kept of it until the browser comes back."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import MutableMapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from dashboard.trying import callbacks
from oidc_provider.models import Application

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
class Try:
    """A sign-in that is under way. `parameters`: those of the authorization request; `mistake`: one of MISTAKES."""

    parameters: dict[str, str]
    code_verifier: str
    mistake: str
    started_at: float  # UNIX seconds

    def url(self) -> str:
        return f"{reverse('authorize')}?{urlencode(self.parameters)}"

    def is_late(self, now: datetime) -> bool:
        return now.timestamp() - self.started_at > GOOD_FOR.total_seconds()


def begin(application: Application, *, scopes: Sequence[str], prompt: str, mistake: str, now: datetime) -> Try:
    """A new request; nothing is stored yet."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    parameters = {
        "client_id": application.client_id,
        "redirect_uri": callbacks.url_of(application),
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
    return Try(sent, verifier, mistake, now.timestamp())


def keep(session: Session, application: Application, under_way: Try) -> None:
    _put(session, _KEY, application, asdict(under_way))


def taken(session: Session, application: Application) -> Try | None:
    """The try that is under way, which is over with this: a callback that comes again finds none."""
    kept = dict(session.get(_KEY, {}))
    found = kept.pop(application.client_id, None)
    session[_KEY] = kept
    return Try(**found) if found else None


def keep_result(session: Session, application: Application, steps: list[dict[str, Any]]) -> None:
    """`steps`: JSON without a secret."""
    _put(session, f"{_KEY}_done", application, steps)


def result(session: Session, application: Application) -> list[dict[str, Any]] | None:
    """The steps of the last try; None where this session has seen none."""
    done: dict[str, list[dict[str, Any]]] = session.get(f"{_KEY}_done", {})
    return done.get(application.client_id)


def _put(session: Session, key: str, application: Application, value: Any) -> None:
    """Any: JSON."""
    others = [item for item in session.get(key, {}).items() if item[0] != application.client_id]
    session[key] = dict([*others, (application.client_id, value)][-MOST_AT_ONCE:])
