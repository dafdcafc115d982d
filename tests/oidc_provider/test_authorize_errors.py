"""Errors of an authorization request: on a page for the user, or at the app's redirect URL."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from oidc_provider import parameters
from oidc_provider.applications import applications
from oidc_provider.authorize import flows, validation
from oidc_provider.errors import ErrorPage, ErrorRedirect
from oidc_provider.models import Application, Grant, PendingRequest
from tests.accounts.clock import NOON
from tests.factories.oidc_provider import REDIRECT_URL, ApplicationFactory
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    DESCRIPTION,
    FORM,
    ISSUER,
    App,
    authorization_query,
    authorize,
    decide,
    error_sent_back,
    place_of,
    sent_back,
)

pytestmark = pytest.mark.django_db
REGISTERED = ["openid", "identify", "offline_access"]
LONG = "x" * 10_000

TO_THE_PAGE = [
    ({"client_id": None}, "invalid_client"),
    ({"client_id": "unknown"}, "invalid_client"),
    ({"client_id": "\x00"}, "invalid_client"),
    ({"client_id": LONG}, "invalid_client"),
    ({"client_id": ["first", "second"]}, "invalid_client"),
    ({"redirect_uri": None}, "invalid_redirect"),
    ({"redirect_uri": ""}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org/callback/"}, "invalid_redirect"),
    ({"redirect_uri": "HTTPS://app.example.org/callback"}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org:443/callback"}, "invalid_redirect"),
    ({"redirect_uri": "https://app.example.org/callback#x"}, "invalid_redirect"),
    ({"redirect_uri": "http://127.0.0.1:999999/"}, "invalid_redirect"),
    ({"redirect_uri": "https://[::1/"}, "invalid_redirect"),
    ({"redirect_uri": "not a url"}, "invalid_redirect"),
    ({"redirect_uri": LONG}, "invalid_redirect"),
    ({"redirect_uri": [REDIRECT_URL, REDIRECT_URL]}, "invalid_redirect"),
]

TO_THE_APP = [
    ({"response_type": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": "code id_token"}, "unsupported_response_type"),
    ({"response_type": "Code"}, "unsupported_response_type"),
    ({"response_type": ["code", "code"]}, "invalid_request"),
    ({"scope": None}, "invalid_scope"),
    ({"scope": " "}, "invalid_scope"),
    ({"scope": "  "}, "invalid_scope"),
    ({"scope": "openid\u00a0identify"}, "invalid_scope"),
    ({"scope": "openid\nidentify"}, "invalid_request"),
    ({"scope": " " * 2_049 + "openid"}, "invalid_request"),
    ({"scope": "openid email"}, "invalid_scope"),
    ({"scope": "openid unknown"}, "invalid_scope"),
    ({"scope": "OpenID"}, "invalid_scope"),
    ({"scope": ["openid", "openid"]}, "invalid_request"),
    ({"scope": LONG}, "invalid_request"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": "x" * 42}, "invalid_request"),
    ({"code_challenge": "x" * 44}, "invalid_request"),
    ({"code_challenge": "x" * 42 + "="}, "invalid_request"),
    ({"code_challenge": "x" * 43 + "\n"}, "invalid_request"),
    ({"code_challenge": ["x" * 43, "x" * 43]}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge_method": "s256"}, "invalid_request"),
    ({"prompt": "none select_account"}, "invalid_request"),
    ({"prompt": "create"}, "invalid_request"),
    ({"prompt": "none login"}, "invalid_request"),
    ({"prompt": ["login", "consent"]}, "invalid_request"),
    ({"max_age": "soon"}, "invalid_request"),
    ({"max_age": "-1"}, "invalid_request"),
    ({"max_age": "٣"}, "invalid_request"),
    ({"max_age": "9" * 10}, "invalid_request"),
    ({"nonce": ["a", "b"]}, "invalid_request"),
    ({"nonce": "\x00"}, "invalid_request"),
    ({"nonce": "x" * 513}, "invalid_request"),
    ({"nonce": "😀" * 129}, "invalid_request"),
    ({"login_hint": "x" * 255}, "invalid_request"),
    ({"id_token_hint": "x" * 4_097}, "invalid_request"),
    ({"state": "x" * 2_049}, "invalid_request"),
    ({"state": "😀" * 513}, "invalid_request"),
    ({"state": None}, "invalid_request"),
    ({"state": ""}, "invalid_request"),
    ({"state": ["first", "second"]}, "invalid_request"),
    ({"id_token_hint": "garbage"}, "invalid_request"),
    ({"id_token_hint": "e30.e30.e30"}, "invalid_request"),
    ({"id_token_hint": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."}, "invalid_request"),
    ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
    ({"request": LONG}, "request_not_supported"),
    ({"request_uri": "https://app.example.org/request"}, "request_uri_not_supported"),
]


def _brief(changes: object) -> str:
    return ascii(changes)[:70]


@pytest.fixture(scope="module")
def registered(module_db: None) -> Application:
    return ApplicationFactory(registered_scopes=REGISTERED)


@pytest.fixture
def app(app: App) -> App:
    app.application.registered_scopes = REGISTERED
    app.application.save()
    return app


@pytest.mark.parametrize(("changes", "code"), TO_THE_PAGE, ids=_brief)
def test_these_errors_are_for_a_page(registered: Application, changes: dict[str, Any], code: str) -> None:
    query = parameters.parse_query(authorization_query(registered, **changes))
    with pytest.raises(ErrorPage) as refusal:
        validation.backend().validated(query)
    assert (refusal.value.status, refusal.value.error) == (400, code)
    assert refusal.value.message


@pytest.mark.parametrize(("changes", "code"), TO_THE_APP, ids=_brief)
def test_these_errors_are_for_the_app(registered: Application, changes: dict[str, Any], code: str) -> None:
    query = parameters.parse_query(authorization_query(registered, **changes))
    with pytest.raises(ErrorRedirect) as refusal:
        flows.draft(validation.backend().validated(query), query, NOON)
    assert (refusal.value.redirect_uri, refusal.value.error) == (REDIRECT_URL, code)
    assert DESCRIPTION.fullmatch(refusal.value.description)


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_a_page_shows_the_error_and_nothing_of_the_request(app: App, browser: Client, is_signed_in: bool) -> None:
    answer = authorize(browser if is_signed_in else Client(), app.application, redirect_uri="https://evil.example/")
    assert answer.status_code == 400
    assert answer["Content-Type"].startswith("text/html")
    assert answer["Cache-Control"] == "no-store"
    assert "<code>invalid_redirect</code>" in answer.content.decode()
    assert "Location" not in answer
    assert "evil.example" not in answer.content.decode()


def test_a_program_gets_the_same_in_json(client: Client, app: App) -> None:
    answer = authorize(client, app.application, accept="application/json", client_id="unknown")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/json")
    body = answer.json()
    assert body == {"error": "invalid_client", "error_description": body["error_description"]}
    assert body["error_description"]


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_the_app_gets_the_error_before_anyone_signs_in(app: App, browser: Client, is_signed_in: bool) -> None:
    answer = authorize(browser if is_signed_in else Client(), app.application, scope="openid email")
    assert answer.status_code == 302
    assert place_of(answer) == REDIRECT_URL
    assert error_sent_back(answer) == "invalid_scope"
    assert not Grant.objects.exists()
    assert not PendingRequest.objects.exists()


@pytest.mark.parametrize("state", [None, "", "x" * 2_049, "😀" * 513])
def test_a_request_without_a_usable_state_is_answered_without_one(client: Client, app: App, state: str | None) -> None:
    values = sent_back(authorize(client, app.application, state=state))
    assert values == {
        "error": "invalid_request",
        "error_description": values["error_description"],
        "iss": ISSUER,
    }


def test_a_query_that_cannot_be_decoded_is_refused(client: Client, app: App) -> None:
    query = f"{AUTHORIZE}?{authorization_query(app.application)}"
    assert error_sent_back(client.get(f"{query}&x=%zz")) == "invalid_request"
    too_many_fields = client.get(query + "&y=1" * 100)
    assert "invalid_client" in too_many_fields.content.decode()  # none of them is read


def test_an_unknown_parameter_is_ignored(browser: Client, app: App) -> None:
    unknown = {"claims": "{bad", "response_mode": "fragment", "approval_prompt": "auto", "x": LONG, "y": "\n"}
    assert authorize(browser, app.application, **unknown)["Location"].startswith("/consent/")


@pytest.mark.parametrize("name", ["resource", "token", "x" * 2_000])
def test_a_repeated_parameter_that_is_not_read_is_ignored(browser: Client, app: App, name: str) -> None:
    query = authorization_query(app.application, **{name: ["a", LONG]})
    for answer in (browser.get(f"{AUTHORIZE}?{query}"), browser.post(AUTHORIZE, query, content_type=FORM)):
        assert answer["Location"].startswith("/consent/")


def test_the_longest_values_are_taken(browser: Client, app: App) -> None:
    state, nonce = "x" * 2_048, "y" * 512
    answer = decide(browser, authorize(browser, app.application, state=state, nonce=nonce, login_hint="z" * 254))
    assert sent_back(answer)["state"] == state


@pytest.mark.parametrize("method", ["HEAD", "PUT", "OPTIONS"])
def test_other_methods_make_no_code(browser: Client, app: App, method: str) -> None:
    browser.handler.enforce_csrf_checks = True
    answer = browser.generic(method, f"{AUTHORIZE}?{authorization_query(app.application)}")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, POST")
    assert not Grant.objects.exists()
    assert not PendingRequest.objects.exists()


@pytest.mark.parametrize("prompt", [None, "none"])
def test_a_suspended_app_is_refused_on_a_page_before_login(client: Client, app: App, prompt: str | None) -> None:
    applications.suspend(application=app.application, by=None, reason="Abuse")
    answer = authorize(client, app.application, prompt=prompt)
    assert answer.status_code == 403
    assert "<code>client_disabled</code>" in answer.content.decode()
    assert "Abuse" not in answer.content.decode()
    answer = authorize(client, app.application, prompt=prompt, accept="application/json")
    assert answer.status_code == 403
    assert answer.json() == {"error": "client_disabled", "error_description": "This app has been disabled."}


@pytest.mark.parametrize("changes", [{"scope": "profile"}, {"redirect_uri": "https://evil.example/"}, {"state": None}])
def test_a_suspended_app_is_named_before_any_other_error(client: Client, app: App, changes: dict[str, Any]) -> None:
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert authorize(client, app.application, **changes).status_code == 403
