"""Errors of an authorization request, by GET and by POST (OpenID Connect Core §3.1.2.1)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from oidc_provider import client_requests, request_log
from oidc_provider.applications import applications
from oidc_provider.authorize import flows, validation
from oidc_provider.errors import ErrorPage, ErrorRedirect
from oidc_provider.models import Application, Grant, PendingRequest, RequestRecord
from tests.accounts.clock import NOON
from tests.factories.oidc_provider import REDIRECT_URL, ApplicationFactory
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    DESCRIPTION,
    FORM,
    ISSUER,
    Answer,
    App,
    authorization_query,
    authorize,
    code_for,
    decide,
    error_sent_back,
    place_of,
    sent_back,
    waiting_at,
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
    query = client_requests.parse_query(authorization_query(registered, **changes))
    with pytest.raises(ErrorPage) as refusal:
        validation.backend().validated(query)
    assert (refusal.value.status, refusal.value.error, bool(refusal.value.message)) == (400, code, True)


@pytest.mark.parametrize(("changes", "code"), TO_THE_APP, ids=_brief)
def test_these_errors_are_for_the_app(registered: Application, changes: dict[str, Any], code: str) -> None:
    query = client_requests.parse_query(authorization_query(registered, **changes))
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


def _post(browser: Client, body: str, *, path: str = AUTHORIZE, content_type: str = FORM, **headers: str) -> Answer:
    """Post as an app's page does, without a CSRF token."""
    browser.handler.enforce_csrf_checks = True
    try:
        return browser.post(path, body, content_type=content_type, headers=headers)
    finally:
        browser.handler.enforce_csrf_checks = False


def _posted(browser: Client, app: App, **changes: Any) -> Answer:
    return _post(browser, authorization_query(app.application, **changes))


def test_a_person_signs_in(browser: Client, app: App) -> None:
    answer = _posted(browser, app, scope="openid identify", state="é&=")
    assert answer.status_code == 303
    values = sent_back(decide(browser, answer))
    assert values["state"] == "é&="
    assert app.exchange(values["code"]).json()["scope"] == "openid identify"
    kept = _posted(browser, app)
    assert kept.status_code == 303
    assert "code" in sent_back(kept)


def test_the_answer_to_the_consent_page_still_needs_its_token(browser: Client, app: App) -> None:
    path = _posted(browser, app)["Location"]
    assert _post(browser, "decision=allow", path=path).status_code == 403
    assert not Grant.objects.exists()


def test_a_visitor_goes_to_the_login_page_and_keeps_the_session_that_was_not_sent(browser: Client, app: App) -> None:
    """Browsers leave Ada's session out of a POST from another site, and send it to the login page."""
    answer = _posted(Client(), app)
    assert waiting_at(answer).startswith("/consent/")
    assert set(answer.cookies) == {"waiting_apps"}
    browser.cookies.update(answer.cookies)
    assert browser.get(answer["Location"])["Location"] == waiting_at(answer)
    assert browser.get(waiting_at(answer)).status_code == 200


def test_prompt_none_from_another_site_is_asked_again_where_the_session_is(browser: Client, app: App) -> None:
    code_for(browser, app.application)
    query = authorization_query(app.application, prompt="none", unknown="x")
    again = _post(Client(), query, **{"sec-fetch-site": "cross-site"})
    assert again.status_code == 303
    assert "code" in sent_back(browser.get(again["Location"]))
    assert "unknown" not in again["Location"]
    assert error_sent_back(_post(Client(), query)) == "login_required"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"scope": "openid profile"}, "invalid_scope"),
        ({"scope": ["openid", "openid"]}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"request": "e30.e30."}, "request_not_supported"),
        ({"prompt": "none"}, "login_required"),
    ],
    ids=str,
)
def test_the_app_gets_the_same_errors(client: Client, app: App, changes: dict[str, Any], error: str) -> None:
    applications.change_scopes(application=app.application, scopes=["openid"], by=None)
    answers = [_posted(client, app, **changes), authorize(client, app.application, **changes)]
    assert [error_sent_back(answer) for answer in answers] == [error, error]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"client_id": "unknown"}, "invalid_client"),
        ({"client_id": ["a", "b"]}, "invalid_client"),
        ({"redirect_uri": "https://evil.example/"}, "invalid_redirect"),
    ],
    ids=str,
)
def test_the_page_shows_the_same_errors(client: Client, app: App, changes: dict[str, Any], error: str) -> None:
    answer = _posted(client, app, **changes)
    assert (answer.status_code, answer["Cache-Control"]) == (400, "no-store")
    assert f"<code>{error}</code>" in answer.content.decode()


def test_nothing_is_read_from_the_query(client: Client, app: App) -> None:
    query = authorization_query(app.application)
    assert "<code>invalid_client</code>" in _post(client, "x=1", path=f"{AUTHORIZE}?{query}").content.decode()
    other = authorization_query(app.application, scope="unknown", state="other")
    assert waiting_at(_post(client, query, path=f"{AUTHORIZE}?{other}"))
    assert PendingRequest.objects.get().state == "the state"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("{}", "application/json"),
        ("x", "multipart/form-data; boundary=x"),
        ("x=" + "x" * 65_536, FORM),
        ("x=\xff", FORM),
    ],
    ids=["JSON", "multipart", "too long", "not UTF-8"],
)
def test_a_body_that_cannot_be_read_is_refused_on_a_page(
    browser: Client, app: App, body: str, content_type: str
) -> None:
    raw = f"{body}&{authorization_query(app.application)}".encode("latin-1")
    answer = browser.post(AUTHORIZE, raw, content_type=content_type)
    assert answer.status_code == 400
    assert "<code>invalid_request</code>" in answer.content.decode()
    answer = browser.post(AUTHORIZE, raw, content_type=content_type, headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert not PendingRequest.objects.exists()


def test_the_log_names_the_app_and_the_person(browser: Client, app: App, user: User) -> None:
    _posted(browser, app)
    _posted(browser, app, redirect_uri="https://evil.example/cb?x=hush")
    request_log.buffer.write()
    rows = RequestRecord.objects.order_by("pk").values_list("kind", "outcome", "redirect_uri", "user")
    assert list(rows) == [
        ("ASKED", "ok", "", user.pk),
        ("ASKED", "invalid_redirect", "https://evil.example/cb", None),
    ]


def test_a_traceback_shows_the_code_of_an_error_and_no_value_of_the_request() -> None:
    error = ErrorRedirect(f"{REDIRECT_URL}?x=hush", "invalid_request", "A hint of hush", "hush")
    assert (str(error), repr(error)) == ("invalid_request", "ErrorRedirect('invalid_request')")
