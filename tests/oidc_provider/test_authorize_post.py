"""The authorization request by POST: as by GET, from the body (OpenID Connect Core §3.1.2.1)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from oidc_provider.applications import applications
from oidc_provider.log import request_log
from oidc_provider.models import Grant, PendingRequest, RequestRecord
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    FORM,
    Answer,
    App,
    authorization_query,
    authorize,
    code_for,
    decide,
    error_sent_back,
    sent_back,
    waiting_at,
)

pytestmark = pytest.mark.django_db


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
