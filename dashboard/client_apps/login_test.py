"""The login test: the owner of an app runs a real sign-in against a built-in callback, and sees each step.

Each step is done for real and checked as a client library checks it. The app's secret is not needed: where an app's
server sends it, the owner's session replaces it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from jwcrypto.common import base64url_decode, base64url_encode

from accounts.models import User
from dashboard.client_apps import error_guide
from oidc_provider import lifetimes, request_log, revocation
from oidc_provider.applications import applications
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.client_requests import Parameters
from oidc_provider.errors import ProtocolError, ServerError, SigningUnavailable
from oidc_provider.models import Application, RequestKind
from oidc_provider.token import operations, signing


def callback_url(application: Application) -> str:
    return f"{settings.BASE_URL}{reverse('application_try_callback', args=[application.client_id])}"


def is_callback_registered(application: Application) -> bool:
    return callback_url(application) in application.redirect_urls


@transaction.atomic
def add_callback(*, application: Application, by: User) -> None:
    """Add the callback to the redirect URLs. Raises ValidationError({"redirect_urls": ...}), as for an eleventh one."""
    application = applications.hold(application)  # another page may have changed the app
    if not is_callback_registered(application):
        urls = [*application.redirect_urls, callback_url(application)]
        applications.change_redirect_urls(application=application, redirect_urls=urls, by=by)


@transaction.atomic
def remove_callback(*, application: Application, by: User) -> None:
    """Remove the callback. Raises ValidationError: it is the app's only redirect URL."""
    application = applications.hold(application)
    if is_callback_registered(application):
        urls = [url for url in application.redirect_urls if url != callback_url(application)]
        applications.change_redirect_urls(application=application, redirect_urls=urls, by=by)


MISTAKES = (
    ("", "None: a correct request"),
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
    """A running sign-in. `parameters`: of the authorization request; `mistake`: one of MISTAKES."""

    parameters: dict[str, str]
    code_verifier: str
    mistake: str
    started_at: float  # UNIX seconds

    def url(self) -> str:
        return f"{reverse('authorize')}?{urlencode(self.parameters)}"

    def is_late(self, now: datetime) -> bool:
        return now.timestamp() - self.started_at > GOOD_FOR.total_seconds()


def begin(application: Application, *, scopes: Sequence[str], prompt: str, mistake: str, now: datetime) -> LoginTest:
    """Return a new request; nothing is stored yet."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64url_encode(hashlib.sha256(verifier.encode()).digest())
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
    """Keep the steps in the session. `steps`: JSON without a secret."""
    _put(session, f"{_KEY}_done", application, steps)


def result(session: Session, application: Application) -> list[dict[str, Any]] | None:
    """Return the steps of the last test of this session, or None."""
    done: dict[str, list[dict[str, Any]]] = session.get(f"{_KEY}_done", {})
    return done.get(application.client_id)


def _put(session: Session, key: str, application: Application, value: Any) -> None:
    others = [item for item in session.get(key, {}).items() if item[0] != application.client_id]
    session[key] = dict([*others, (application.client_id, value)][-MOST_AT_ONCE:])


SHOWN = 6  # characters of a secret value


@dataclass(frozen=True)
class Line:
    """A name with its value and its purpose."""

    name: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class Check:
    """A condition on the answer, and whether it holds."""

    says: str
    holds: bool


@dataclass
class Step:
    """`proves`: what a successful step shows. `documents`: pretty JSON by title."""

    title: str
    proves: str
    lines: list[Line] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    documents: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""
    error: dict[str, str] = field(default_factory=dict)

    def check(self, says: str, *, holds: bool) -> None:
        self.checks.append(Check(says, holds))

    def add_document(self, title: str, value: Mapping[str, Any]) -> None:
        self.documents.append((title, json.dumps(value, indent=2, ensure_ascii=False)))

    def fails(self, endpoint: str, code: str, description: str) -> None:
        """Set the error that `endpoint` answered, with its cause and fix."""
        guide = error_guide.explain(endpoint=endpoint, code=code, description=description)
        self.error = {"code": code, "description": description}
        if guide is not None:
            self.error |= {"cause": guide.cause, "fix": guide.fix}

    @property
    def is_good(self) -> bool:
        return not self.error and all(check.holds for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "is_good": self.is_good}


def masked(secret: str) -> str:
    """Return the beginning of a secret value, and its length."""
    return f"{secret[:SHOWN]}… ({len(secret)} characters)" if secret else ""


_MEANINGS = {
    "client_id": "The app that sends the request.",
    "redirect_uri": "Where the answer is sent; it must match a registered redirect URL exactly.",
    "response_type": "The authorization code flow, the only one.",
    "scope": "The permissions that the app asks for.",
    "state": "Random, kept in the session: proves in the callback that this browser began the sign-in.",
    "nonce": "Random: comes back inside the id_token, so that it cannot be replaced by another id_token.",
    "code_challenge": "The SHA-256 of a secret that only the app has: a stolen code is useless without it.",
    "code_challenge_method": "How the challenge was made. S256 is the only method.",
    "prompt": "Which steps the user has to repeat.",
}

_CANNOT_SIGN = "The service cannot sign id_tokens at the moment. Try again later."


def run(
    *, application: Application, owner: User, under_way: LoginTest, answer: Mapping[str, str], now: datetime
) -> list[dict[str, Any]]:
    """Return every step as JSON for the page, and revoke the tokens. `answer`: the parameters of the callback."""
    steps = [_request(application, under_way)]
    callback = _callback(under_way, answer, now)
    steps.append(callback)
    if callback.is_good:
        steps += _with_code(application, owner, under_way, answer["code"], now)
    return [step.as_json() for step in steps]


def _request(application: Application, under_way: LoginTest) -> Step:
    step = Step("Authorization request", "Your app, its redirect URL and its scopes are registered as you use them.")
    step.lines.append(Line("GET", f"{settings.BASE_URL}{reverse('authorize')}", "The browser is sent here."))
    step.lines += [Line(name, value, _MEANINGS[name]) for name, value in under_way.parameters.items()]
    for name in under_way.parameters["scope"].split():
        step.check(f"The scope {name} is registered", holds=name in application.registered_scopes)
    return step


def _callback(under_way: LoginTest, answer: Mapping[str, str], now: datetime) -> Step:
    step = Step("Callback", "The answer belongs to the request of this browser, and comes from this service.")
    shown = {**answer, **({"code": masked(answer["code"])} if "code" in answer else {})}
    step.lines = [Line(name, value) for name, value in shown.items()]
    expected = under_way.parameters.get("state", "")
    state, issuer = answer.get("state", ""), answer.get("iss", "")
    if expected:
        step.check("state is the one that was sent", holds=secrets.compare_digest(state.encode(), expected.encode()))
    step.check(f"iss is the issuer, {settings.BASE_URL}", holds=issuer == settings.BASE_URL)
    step.check("The answer came within 20 minutes", holds=not under_way.is_late(now))
    if "error" in answer:
        step.fails("authorize", answer["error"], answer.get("error_description", ""))
    else:
        step.check("There is a code", holds=bool(answer.get("code")))
    if not step.is_good:
        step.note = "A client has to stop here, and so does this test."
    return step


def _with_code(application: Application, owner: User, under_way: LoginTest, code: str, now: datetime) -> list[Step]:
    step, answer = _exchange(application, owner, under_way, code, now)
    if answer is None:
        return [step]
    try:
        id_token, claims = _id_token(application, under_way, answer, now)
        rest = [id_token, _userinfo(answer, claims, now), _scopes(under_way, answer)]
    finally:
        revoked = _revocation(application, answer, now)
    return [step, *rest, revoked]


def _exchange(
    application: Application, owner: User, under_way: LoginTest, code: str, now: datetime
) -> tuple[Step, dict[str, Any] | None]:
    step = Step("Token request", "Code, redirect URL and PKCE verifier belong together; the code was not used before.")
    redirect_uri, verifier = under_way.parameters["redirect_uri"], under_way.code_verifier
    if under_way.mistake == "redirect_uri":
        redirect_uri += "/"
    if under_way.mistake == "verifier":
        verifier = secrets.token_urlsafe(48)
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}
    step.lines = [
        Line("POST", f"{settings.BASE_URL}{reverse('token')}", "From your server, as a form, never from the browser."),
        Line("Authorization", "Basic …", "Your client_id and client_secret. Here your session replaces the secret."),
        Line("grant_type", form["grant_type"]),
        Line("code", masked(code), f"Good once, for {lifetimes.CODE}."),
        Line("redirect_uri", redirect_uri, "The same string as in the authorization request."),
        Line("code_verifier", masked(verifier), "The secret behind the code_challenge."),
    ]
    with request_log.Noting(RequestKind.TRIED) as note:
        request_log.about(client_id=application.client_id)
        try:
            answer = operations.exchange_own(Parameters(form), now, application=application, owner=owner)
        except (ProtocolError, SigningUnavailable) as raised:
            error = raised if isinstance(raised, ProtocolError) else ServerError(_CANNOT_SIGN)
            note.fails(error.error, error.description)
            step.fails("token", error.error, error.description)
            return step, None
    names = {"access_token", "refresh_token", "id_token"}
    step.add_document("Answer", {name: masked(value) if name in names else value for name, value in answer.items()})
    return step, answer


def _id_token(
    application: Application, under_way: LoginTest, answer: dict[str, Any], now: datetime
) -> tuple[Step, dict[str, Any]]:
    step = Step("id_token", "Who signed in, signed by this service, for your app and for this sign-in.")
    token = answer.get("id_token")
    if token is None:
        step.note = "There is no id_token, because the scope openid was not requested."
        return step, {}
    header, unverified = _decoded(token, 0), _decoded(token, 1)
    step.add_document("Header", header)
    step.add_document("Claims", unverified)
    claims = signing.verified_claims(token)
    step.check("The signature fits a key of the key set, by its kid", holds=claims is not None)
    step.check("alg is EdDSA", holds=header.get("alg") == "EdDSA")
    step.check("iss is the issuer", holds=unverified.get("iss") == settings.BASE_URL)
    step.check("aud is your client_id", holds=unverified.get("aud") == application.client_id)
    step.check("exp is in the future", holds=int(unverified.get("exp", 0)) > now.timestamp())
    step.check("nonce is the one that was sent", holds=unverified.get("nonce") == under_way.parameters.get("nonce"))
    return step, claims or {}


def _userinfo(answer: dict[str, Any], id_claims: dict[str, Any], now: datetime) -> Step:
    step = Step("User info", "The access token works, and names the same person as the id_token.")
    step.lines = [
        Line("GET", f"{settings.BASE_URL}{reverse('userinfo')}", "From your server."),
        Line("Authorization", f"Bearer {masked(answer['access_token'])}", "The access token; never in the URL."),
    ]
    try:
        profile = operations.userinfo(operations.bearer(answer["access_token"], now))
    except ProtocolError as error:
        step.fails("userinfo", error.error, error.description)
        return step
    step.add_document("Answer", profile)
    step.check("sub is that of the id_token", holds=profile["sub"] == id_claims.get("sub"))
    return step


def _scopes(under_way: LoginTest, answer: dict[str, Any]) -> Step:
    step = Step("Scopes", "The granted scopes are the requested ones.")
    asked, granted = under_way.parameters["scope"].split(), answer["scope"].split()
    for name in asked:
        gives = ", ".join(SCOPES[name].claims) or "a refresh_token"
        step.lines.append(Line(name, "granted" if name in granted else "not granted", f"Gives {gives}."))
    step.check("Every scope was granted", holds=set(asked) <= set(granted))
    has_refresh_token, asks_for_one = "refresh_token" in answer, "offline_access" in asked
    step.check(
        "A refresh_token came if and only if offline_access was requested", holds=has_refresh_token == asks_for_one
    )
    return step


def _revocation(application: Application, answer: dict[str, Any], now: datetime) -> Step:
    step = Step("Tokens revoked", "Only your consent remains after this test, under Connected apps.")
    revocation.revoke(answer.get("refresh_token") or answer["access_token"], application.pk)
    try:
        operations.userinfo(operations.bearer(answer["access_token"], now))
    except ProtocolError as error:
        step.check(f"The access token is revoked: {error.error}", holds=error.error == "invalid_token")
    else:
        step.check("The access token is revoked", holds=False)
    return step


def _decoded(token: str, part: int) -> dict[str, Any]:
    """Return a part of a JWT; empty where it is none."""
    try:
        decoded = json.loads(base64url_decode(token.split(".")[part]))
    except (IndexError, ValueError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
