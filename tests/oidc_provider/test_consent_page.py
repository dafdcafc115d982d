"""The consent page, and the answers to its form."""

from __future__ import annotations

import lxml.html
import pytest
from django.test import Client

from accounts.models import LinkedAccount, User
from oidc_provider.applications import applications
from oidc_provider.authorize import consent_page
from oidc_provider.models import Approval, Grant
from tests.factories.accounts import LinkedAccountFactory
from tests.factories.oidc_provider import ApprovalFactory
from tests.oidc_provider.protocol import (
    EVERY_SCOPE,
    ISSUER,
    Answer,
    App,
    authorize,
    claims_of,
    code_for,
    decide,
    place_of,
    sent_back,
    waiting_at,
)

LABELS = {
    "openid": "Sign in",
    "identify": "Basic profile",
    "email": "Email address",
    "connections": "Connected accounts",
    "offline_access": "Refresh session",
}


def _opened(browser: Client, app: App, **changes: str) -> Answer:
    answer = browser.get(authorize(browser, app.application, **changes)["Location"])
    assert answer.status_code == 200
    return answer


def _text(answer: Answer) -> str:
    return " ".join(lxml.html.fromstring(answer.content).text_content().split())


def _lines(answer: Answer) -> list[str]:
    """Return the label of each permission with its badge."""
    labels = lxml.html.fromstring(answer.content).find_class("permissions__label")
    return [" ".join(label.text_content().split()) for label in labels]


def _values(answer: Answer) -> dict[str, str]:
    page = lxml.html.fromstring(answer.content)
    names, values = page.xpath("//dl//dt"), page.xpath("//dl//dd")
    return {
        name.text_content().strip(): value.text_content().strip() for name, value in zip(names, values, strict=True)
    }


def _form_action(answer: Answer) -> str:
    policy = str(answer["Content-Security-Policy"])
    return policy.partition("form-action ")[2].partition(";")[0]


@pytest.mark.parametrize("scope", ["connections", "openid email offline_access", EVERY_SCOPE])
def test_the_page_lists_exactly_the_requested_permissions(browser: Client, app: App, scope: str) -> None:
    assert _lines(_opened(browser, app, scope=scope)) == [LABELS[name] for name in scope.split()]


def test_the_page_shows_every_value_that_the_app_would_get(browser: Client, app: App, user: User) -> None:
    LinkedAccountFactory(user=user, kind=LinkedAccount.Kind.CHAT, name="ada#1")
    LinkedAccountFactory(user=user, kind=LinkedAccount.Kind.SCROBBLER, name="ada-fm")
    assert _values(_opened(browser, app, scope=EVERY_SCOPE)) == {
        "sub": user.pk,
        "uid": str(user.uid),
        "name": "Ada Example",
        "preferred_username": "Ada",
        "profile": f"{ISSUER}/Ada",
        "email": "ada@example.org",
        "email_verified": "yes",
        "connections": "chat: ada#1, scrobbler: ada-fm",
    }


def test_the_page_counts_only_as_many_people_as_it_names(
    browser: Client, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    ApprovalFactory.create_batch(4, application=app.application)
    assert "4 people use it" in _text(_opened(browser, app))
    monkeypatch.setattr(consent_page, "COUNTED_USERS", 2)
    assert "3 people use it" in _text(_opened(browser, app))


def test_the_page_shows_no_value_of_a_scope_that_is_not_requested(browser: Client, app: App, user: User) -> None:
    answer = _opened(browser, app, scope="openid")
    assert _values(answer) == {"sub": user.pk}
    assert "ada@example.org" not in _text(answer)


def test_the_page_names_the_app_its_owner_the_person_and_the_host(browser: Client, app: App) -> None:
    text = _text(_opened(browser, app))
    assert "Notebook wants to use your" in text
    assert f"by {app.application.user.username}" in text
    assert "Signed in as Ada" in text
    assert "You go to app.example.org." in text


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://app.example.org:8443/cb", "You go to app.example.org:8443."),
        ("http://127.0.0.1:5001/cb", "You go to 127.0.0.1:5001, an app on this device."),
        ("http://localhost:3000/cb", "You go to localhost:3000, an app on this device."),
        ("com.example.app:/cb", "You go to com.example.app:, an app on this device."),
    ],
)
def test_the_page_says_where_the_person_goes(browser: Client, app: App, url: str, words: str) -> None:
    applications.change_redirect_urls(application=app.application, redirect_urls=[url], by=None)
    assert words in _text(_opened(browser, app, redirect_uri=url))


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://app.example.org/callback", "https://app.example.org https:"),
        ("http://127.0.0.1:5001/cb", "http://127.0.0.1:5001 http://127.0.0.1:* http://localhost:* https:"),
        ("com.example.app:/cb", "com.example.app:"),
    ],
)
def test_the_policies_let_the_form_lead_to_this_app_and_onward_from_there(
    app: App, user: User, url: str, place: str
) -> None:
    applications.change_redirect_urls(application=app.application, redirect_urls=[url], by=None)
    visitor = Client()
    assert _form_action(visitor.get("/accounts/login/")) == "'self'"
    waiting = waiting_at(authorize(visitor, app.application, redirect_uri=url))
    assert _form_action(visitor.get("/accounts/login/")) == f"'self' {place}"
    assert _form_action(visitor.get("/accounts/signup/")) == f"'self' {place}"
    assert _form_action(visitor.get("/")) == "'self'"
    visitor.force_login(user)
    assert _form_action(visitor.get(waiting)) == f"'self' {place}"
    visitor.post(waiting, {"decision": "allow"})
    assert _form_action(visitor.get("/accounts/password/reset/")) == "'self'"


def test_the_page_is_neither_cached_nor_framed_nor_leaked(browser: Client, app: App) -> None:
    answer = _opened(browser, app)
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
    assert answer["Referrer-Policy"] == "same-origin"  # no-referrer would make the form's own Origin header null


@pytest.mark.parametrize("decision", ["", "ALLOW", "\x00"])
def test_an_unknown_decision_shows_the_page_again(browser: Client, app: App, decision: str) -> None:
    path = authorize(browser, app.application)["Location"]
    answer = browser.post(path, {"decision": decision})
    assert (answer.status_code, _lines(answer)) == (200, ["Sign in"])
    assert not Approval.objects.exists()
    assert not Grant.objects.exists()


def test_a_decision_from_another_site_is_refused(user: User, app: App) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    path = authorize(browser, app.application)["Location"]
    assert browser.post(path, {"decision": "allow"}).status_code == 403
    assert not Grant.objects.exists()


def test_a_forged_redirect_url_in_the_form_is_ignored(browser: Client, app: App) -> None:
    for decision in ("cancel", "allow"):
        path = authorize(browser, app.application)["Location"]
        forged = {"decision": decision, "redirect_uri": "https://evil.example/", "scope": EVERY_SCOPE}
        assert place_of(browser.post(path, forged)) == app.application.redirect_urls[0]
    assert Approval.objects.get().scopes == ["openid"]


def test_the_user_who_answers_a_request_signs_in(
    browser: Client, other_browser: Client, other_user: User, app: App
) -> None:
    """The id of a waiting request identifies the app's request, not the user."""
    path = authorize(browser, app.application)["Location"]
    assert "Signed in as Ben" in _text(other_browser.get(path))
    code = sent_back(other_browser.post(path, {"decision": "allow"}))["code"]
    assert claims_of(app.exchange(code).json()["id_token"])["sub"] == other_user.pk
    assert [approval.user for approval in Approval.objects.all()] == [other_user]


def test_switching_the_account_keeps_the_request(browser: Client, other_user: User, app: App) -> None:
    path = authorize(browser, app.application)["Location"]
    answer = browser.post(f"{path}/switch-account")
    assert waiting_at(answer) == path
    assert "_auth_user_id" not in browser.session
    assert _form_action(browser.get("/accounts/login/")) == "'self' https://app.example.org https:"
    browser.force_login(other_user)
    code = sent_back(browser.post(path, {"decision": "allow"}))["code"]
    assert claims_of(app.exchange(code).json()["id_token"])["sub"] == other_user.pk


@pytest.mark.parametrize("pending_id", ["unknown", "%00", "x" * 5_000, "%FF"])
def test_an_unknown_request_is_a_page_that_says_so(browser: Client, pending_id: str) -> None:
    for path in (f"/consent/{pending_id}", f"/consent/{pending_id}/switch-account"):
        for method in ("GET", "POST"):
            answer = browser.generic(method, path)
            assert answer.status_code in {400, 404, 405}
            assert "Location" not in answer


def test_an_app_suspended_in_between_gets_nothing(browser: Client, app: App) -> None:
    answer = authorize(browser, app.application)
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert browser.get(answer["Location"]).status_code == 403
    refusal = decide(browser, answer)
    assert refusal.status_code == 403
    assert "<code>client_disabled</code>" in refusal.content.decode()
    assert not Grant.objects.exists()


def test_scopes_approved_before_are_distinguished_from_new_ones(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid identify")
    answer = _opened(browser, app, scope="openid identify email")
    assert _lines(answer) == ["Sign in Already allowed", "Basic profile Already allowed", "Email address New"]
