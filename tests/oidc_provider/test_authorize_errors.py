"""What is wrong with an authorization request, and who is told: the person on a page, or the app at its URL."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from oidc_provider import applications
from oidc_provider.models import Grant, PendingRequest
from tests.factories.oidc_provider import REDIRECT_URL
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    ISSUER,
    App,
    authorization_query,
    authorize,
    error_sent_back,
    place_of,
    sent_back,
)

REGISTERED = ["openid", "identify", "offline_access"]
LONG = "x" * 10_000

TO_THE_PAGE = [
    ({"client_id": None}, "invalid_client"),
    ({"client_id": ""}, "invalid_client"),
    ({"client_id": "unknown"}, "invalid_client"),
    ({"client_id": "\x00"}, "invalid_client"),
    ({"client_id": "é"}, "invalid_client"),
    ({"client_id": LONG}, "invalid_client"),
    ({"client_id": ["first", "second"]}, "invalid_client"),
    ({"redirect_uri": None}, "invalid_redirect"),
    ({"redirect_uri": ""}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org/other"}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org/callback/"}, "invalid_redirect"),
    ({"redirect_uri": "HTTPS://app.example.org/callback"}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org:443/callback"}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org/callback#x"}, "invalid_redirect"),
    ({"redirect_uri": "https://evil.example/"}, "invalid_redirect"),
    ({"redirect_uri": "http://127.0.0.1:999999/"}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org:999999/callback"}, "invalid_redirect"),
    ({"redirect_uri": "https://[::1/"}, "invalid_redirect"),
    ({"redirect_uri": "/callback"}, "invalid_redirect"),
    ({"redirect_uri": "not a url"}, "invalid_redirect"),
    ({"redirect_uri": "\x00"}, "invalid_redirect"),
    ({"redirect_uri": LONG}, "invalid_redirect"),
    ({"redirect_uri": [REDIRECT_URL, REDIRECT_URL]}, "invalid_redirect"),
    ({"redirect_uri": [REDIRECT_URL, "https://evil.example/"]}, "invalid_redirect"),
]

TO_THE_APP = [
    ({"response_type": None}, "invalid_request"),
    ({"response_type": ""}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": "id_token"}, "unsupported_response_type"),
    ({"response_type": "code id_token"}, "unsupported_response_type"),
    ({"response_type": "none"}, "unsupported_response_type"),
    ({"response_type": "Code"}, "unsupported_response_type"),
    ({"response_type": ["code", "code"]}, "invalid_request"),
    ({"scope": None}, "invalid_scope"),
    ({"scope": ""}, "invalid_scope"),
    ({"scope": " "}, "invalid_scope"),
    ({"scope": "openid profile"}, "invalid_scope"),
    ({"scope": "openid email"}, "invalid_scope"),
    ({"scope": "connections"}, "invalid_scope"),
    ({"scope": "openid unknown"}, "invalid_scope"),
    ({"scope": "OpenID"}, "invalid_scope"),
    ({"scope": "openid,identify"}, "invalid_scope"),
    ({"scope": ["openid", "openid"]}, "invalid_request"),
    ({"scope": LONG}, "invalid_request"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": ""}, "invalid_request"),
    ({"code_challenge": "x" * 42}, "invalid_request"),
    ({"code_challenge": "x" * 44}, "invalid_request"),
    ({"code_challenge": "x" * 129}, "invalid_request"),
    ({"code_challenge": "x" * 42 + "="}, "invalid_request"),
    ({"code_challenge": "x" * 42 + "é"}, "invalid_request"),
    ({"code_challenge": "x" * 43 + "\n"}, "invalid_request"),
    ({"code_challenge": ["x" * 43, "x" * 43]}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": ""}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge_method": "s256"}, "invalid_request"),
    ({"code_challenge_method": "S512"}, "invalid_request"),
    ({"code_challenge_method": ["S256", "S256"]}, "invalid_request"),
    ({"prompt": "select_account"}, "invalid_request"),
    ({"prompt": "none login"}, "invalid_request"),
    ({"prompt": "none consent"}, "invalid_request"),
    ({"prompt": ["login", "consent"]}, "invalid_request"),
    ({"max_age": "soon"}, "invalid_request"),
    ({"max_age": "-1"}, "invalid_request"),
    ({"max_age": "1.5"}, "invalid_request"),
    ({"max_age": "٣"}, "invalid_request"),
    ({"max_age": "9" * 400}, "invalid_request"),
    ({"max_age": ["1", "1"]}, "invalid_request"),
    ({"nonce": ["a", "b"]}, "invalid_request"),
    ({"nonce": "\x00"}, "invalid_request"),
    ({"nonce": LONG}, "invalid_request"),
    ({"unknown": ["a", "a"]}, "invalid_request"),
    ({"login_hint": "a\x00b"}, "invalid_request"),
    ({"id_token_hint": "garbage"}, "invalid_request"),
    ({"id_token_hint": "e30.e30.e30"}, "invalid_request"),
    ({"id_token_hint": "a.b.c"}, "invalid_request"),
    ({"id_token_hint": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."}, "invalid_request"),
    ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
    ({"request_uri": "https://app.example.org/request"}, "request_uri_not_supported"),
]


def _brief(changes: object) -> str:
    return ascii(changes)[:70]


@pytest.fixture
def app(app: App) -> App:
    app.application.registered_scopes = REGISTERED
    app.application.save()
    return app


@pytest.fixture(params=["signed in", "nobody"])
def visitor(request: pytest.FixtureRequest, browser: Client) -> Client:
    """A bad request is refused before anybody is asked to sign in."""
    return browser if request.param == "signed in" else Client()


@pytest.mark.parametrize(("changes", "code"), TO_THE_PAGE, ids=_brief)
def test_these_are_told_to_the_person(visitor: Client, app: App, changes: dict[str, Any], code: str) -> None:
    answer = authorize(visitor, app.application, **changes)
    assert answer.status_code == 400
    assert answer["Content-Type"].startswith("text/html")
    assert answer["Cache-Control"] == "no-store"
    assert f"<code>{code}</code>" in answer.content.decode()
    assert "Location" not in answer
    assert "evil.example" not in answer.content.decode()


@pytest.mark.parametrize(("changes", "code"), TO_THE_PAGE, ids=_brief)
def test_a_program_is_told_the_same_in_json(client: Client, app: App, changes: dict[str, Any], code: str) -> None:
    answer = authorize(client, app.application, accept="application/json", **changes)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/json")
    body = answer.json()
    assert body == {"error": code, "error_description": body["error_description"]}
    assert body["error_description"]


@pytest.mark.parametrize(("changes", "code"), TO_THE_APP, ids=_brief)
def test_these_are_told_to_the_app(visitor: Client, app: App, changes: dict[str, Any], code: str) -> None:
    answer = authorize(visitor, app.application, **changes)
    assert answer.status_code == 302
    assert place_of(answer) == REDIRECT_URL
    assert error_sent_back(answer) == code
    assert not Grant.objects.exists()
    assert not PendingRequest.objects.exists()


@pytest.mark.parametrize("state", [None, ""])
def test_a_request_without_state_is_told_to_the_app_without_one(visitor: Client, app: App, state: str | None) -> None:
    values = sent_back(authorize(visitor, app.application, state=state))
    assert values == {
        "error": "invalid_request",
        "error_description": values["error_description"],
        "iss": ISSUER,
    }


def test_a_repeated_state_is_told_to_the_app(visitor: Client, app: App) -> None:
    values = sent_back(authorize(visitor, app.application, state=["first", "second"]))
    assert values["error"] == "invalid_request"
    assert values["iss"] == ISSUER


@pytest.mark.parametrize("broken", ["&x=%zz", "&x=%", "&x=%FF", "&%ED%A0%80=1", "&y=1" * 100])
def test_a_query_that_cannot_be_decoded_is_refused(visitor: Client, app: App, broken: str) -> None:
    answer = visitor.get(f"{AUTHORIZE}?{authorization_query(app.application)}{broken}")
    if answer.status_code == 400:
        assert "invalid_client" in answer.content.decode()  # too many fields: none of them is read
    else:
        assert error_sent_back(answer) == "invalid_request"


def test_a_long_request_object_is_not_supported_either(client: Client, app: App) -> None:
    assert error_sent_back(authorize(client, app.application, request=LONG)) == "request_not_supported"


def test_an_unknown_parameter_is_ignored(browser: Client, app: App) -> None:
    answer = authorize(browser, app.application, claims="{bad", response_mode="fragment", approval_prompt="auto")
    assert answer["Location"].startswith("/consent/")


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_other_methods_make_no_code(browser: Client, app: App, method: str) -> None:
    browser.handler.enforce_csrf_checks = True
    answer = browser.generic(method, f"{AUTHORIZE}?{authorization_query(app.application)}")
    assert (answer.status_code, answer["Allow"]) == (405, "GET")
    assert not Grant.objects.exists()
    assert not PendingRequest.objects.exists()


def test_a_suspended_app_is_told_to_the_person_before_login(visitor: Client, app: App) -> None:
    applications.suspend(application=app.application, by=None, reason="Abuse")
    answer = authorize(visitor, app.application)
    assert answer.status_code == 403
    assert "<code>client_disabled</code>" in answer.content.decode()
    assert "Abuse" not in answer.content.decode()
    answer = authorize(visitor, app.application, accept="application/json")
    assert answer.status_code == 403
    assert answer.json() == {"error": "client_disabled", "error_description": "This app has been disabled."}


@pytest.mark.parametrize("changes", [{"scope": "profile"}, {"redirect_uri": "https://evil.example/"}, {"state": None}])
def test_a_suspended_app_is_named_before_any_other_error(client: Client, app: App, changes: dict[str, Any]) -> None:
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert authorize(client, app.application, **changes).status_code == 403
