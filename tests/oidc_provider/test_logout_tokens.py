"""The request of a logout and its token (OpenID Connect Back-Channel Logout 1.0 §2.4 to §2.6)."""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest
import time_machine
from django.test import Client
from joserfc import jwt
from joserfc.errors import BadSignatureError, SecurityWarning
from joserfc.jwk import KeySet

from accounts.models import User
from oidc_provider.applications import applications
from oidc_provider.errors import SigningUnavailable
from oidc_provider.models import Application, SigningKey
from oidc_provider.token import logout_tokens, signing
from tests.accounts.clock import NOON
from tests.factories.oidc_provider import ApplicationFactory
from tests.oidc_provider.protocol import ISSUER, KEY_SET, App, authorize, error_sent_back, parts_of, sent_back

pytestmark = pytest.mark.django_db

LOGOUT_URL = "https://app.example.org/logout"
MESSAGE = "msg_0123456789abcdefABCDEF"


@pytest.fixture
def heard(app: App) -> App:
    """An app with a logout URL."""
    app.application.backchannel_logout_uri = LOGOUT_URL
    app.application.save()
    return app


def request_of(application: Application, *, subject: str = "u", sid: str = "s") -> logout_tokens.Sent | None:
    return logout_tokens.request_of(client_id=application.client_id, subject=subject, sid=sid, message_id=MESSAGE)


def token_of(application: Application, **about: str) -> str:
    sent = request_of(application, **about)
    assert sent is not None
    (token,) = parse_qs(sent[2].decode(), strict_parsing=True)["logout_token"]
    return token


def verified(token: str) -> jwt.Token:
    """The token after a check of its signature with the published keys, by joserfc."""
    keys = KeySet.import_key_set(Client().get(KEY_SET).json())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # RFC 9864 would call it Ed25519; the contract says EdDSA
        return jwt.decode(token, keys, algorithms=["EdDSA"])


@pytest.mark.parametrize("sid", ["the-sid", ""], ids=["one session", "all sessions"])
def test_the_request_is_a_form_with_a_token_that_says_exactly_this(
    clock: time_machine.Traveller, heard: App, user: User, sid: str
) -> None:
    sent = request_of(heard.application, subject=user.pk, sid=sid)
    assert sent is not None
    url, headers, body = sent
    assert (url, headers) == (LOGOUT_URL, {"Content-Type": "application/x-www-form-urlencoded"})
    form = parse_qs(body.decode(), strict_parsing=True)
    assert set(form) == {"logout_token"}
    token = verified(form["logout_token"][0])
    assert token.header == {"alg": "EdDSA", "kid": SigningKey.objects.get().kid, "typ": "logout+jwt"}
    now = int(NOON.timestamp())
    expected: dict[str, Any] = {
        "iss": ISSUER,
        "aud": heard.application.client_id,
        "iat": now,
        "exp": now + 120,
        "jti": MESSAGE,
        "sub": user.pk,
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
    }
    assert token.claims == {**expected, **({"sid": sid} if sid else {})}


def test_a_later_attempt_has_a_newer_token_with_the_same_id(clock: time_machine.Traveller, heard: App) -> None:
    first = parts_of(token_of(heard.application))[1]
    clock.shift(timedelta(minutes=1))
    second = parts_of(token_of(heard.application))[1]
    assert (second["jti"], second["iat"] - first["iat"]) == (first["jti"], 60)


def test_a_token_that_was_changed_is_refused_by_its_reader(heard: App) -> None:
    header, claims, signature = token_of(heard.application).split(".")
    other = signature[::-1]
    with pytest.raises(BadSignatureError):
        verified(f"{header}.{claims}.{other}")


def test_a_logout_token_is_no_id_token_hint(heard: App, browser: Client, user: User) -> None:
    """Both are signed with the same key; `typ` keeps them apart."""
    hint = heard.sign_in(browser)["id_token"]
    assert "code" in sent_back(authorize(browser, heard.application, id_token_hint=hint, prompt="none"))
    token = token_of(heard.application, subject=user.pk)
    answer = authorize(browser, heard.application, id_token_hint=token, prompt="none")
    assert error_sent_back(answer) == "invalid_request"


def test_there_is_no_request_for_an_app_without_a_logout_url_or_that_is_gone(app: App) -> None:
    assert request_of(app.application) is None
    applications.delete(application=app.application, by=None)
    assert request_of(app.application) is None
    assert request_of(ApplicationFactory.build()) is None


def test_without_a_signing_key_the_request_fails_instead_of_going_out_unsigned(heard: App) -> None:
    SigningKey.objects.update(is_signing=False)
    signing.forget_cached_signer()
    with pytest.raises(SigningUnavailable):
        request_of(heard.application)


def test_the_id_token_keeps_its_header(app: App, browser: Client) -> None:
    assert parts_of(app.sign_in(browser)["id_token"])[0]["typ"] == "JWT"
