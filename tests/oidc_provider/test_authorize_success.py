"""A valid authorization request: login, consent, and the answer at the app's redirect URL."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from accounts.models import User
from dashboard.client_apps import redirect_editor
from oidc_provider.applications import applications
from oidc_provider.models import Application, Approval, Grant, PendingRequest
from tests.factories.oidc_provider import REDIRECT_URL
from tests.oidc_provider.protocol import (
    ISSUER,
    App,
    authorize,
    claims_of,
    code_for,
    decide,
    log_in,
    place_of,
    sent_back,
    waiting_at,
)


def test_allowing_leads_to_the_app_with_code_state_and_issuer(browser: Client, app: App) -> None:
    answer = decide(browser, authorize(browser, app.application))
    assert (answer.status_code, place_of(answer)) == (303, REDIRECT_URL)
    values = sent_back(answer)
    assert values == {"code": values["code"], "state": "the state", "iss": ISSUER}
    assert len(values["code"]) >= 22  # 128 bits
    assert "no-store" in answer["Cache-Control"]
    assert answer["Referrer-Policy"] == "no-referrer"


def test_cancelling_leads_to_the_app_with_access_denied(browser: Client, app: App) -> None:
    answer = decide(browser, authorize(browser, app.application), "cancel")
    assert (answer.status_code, place_of(answer)) == (303, REDIRECT_URL)
    values = sent_back(answer)
    assert values == {
        "error": "access_denied",
        "error_description": values["error_description"],
        "state": "the state",
        "iss": ISSUER,
    }
    assert not Approval.objects.exists()
    assert not Grant.objects.exists()


@pytest.mark.parametrize("state", ["a+b &c=d;e", "a%20b", "é☃", "x" * 2_048, "0"])
def test_the_state_comes_back_unchanged(browser: Client, app: App, state: str) -> None:
    assert sent_back(decide(browser, authorize(browser, app.application, state=state)))["state"] == state
    assert sent_back(authorize(browser, app.application, state=state))["state"] == state


@pytest.mark.parametrize(
    ("registered", "asked", "begin"),
    [
        ("https://app.example.org/cb?from=login", None, "https://app.example.org/cb?from=login&"),
        ("https://app.example.org", None, "https://app.example.org?"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb", "http://127.0.0.1:51004/cb?"),
        ("com.example.app:/", None, "com.example.app:/?"),
        ("https://[2001:db8::]/cb", None, "https://[2001:db8::]/cb?"),
        ("https://[::ffff:192.0.2.1]/cb", None, "https://[::ffff:192.0.2.1]/cb?"),
        ("https://app.example.org/a;b,c!$'()/@:", None, "https://app.example.org/a;b,c!$'()/@:?"),
        ("https://app.example.org/i.php?tx%5Baction%5D=cb", None, "https://app.example.org/i.php?tx%5Baction%5D=cb&"),
    ],
)
def test_every_kind_of_redirect_url_is_answered(
    browser: Client, app: App, registered: str, asked: str | None, begin: str
) -> None:
    applications.change_redirect_urls(application=app.application, redirect_urls=[registered], by=None)
    url = asked or registered
    error = authorize(browser, app.application, redirect_uri=url, scope="profile")["Location"]
    assert error.startswith(f"{begin}error=invalid_scope&")
    place = decide(browser, authorize(browser, app.application, redirect_uri=url))["Location"]
    assert place.startswith(f"{begin}code=")
    code = place.partition("code=")[2].partition("&")[0]
    assert app.exchange(code, redirect_uri=url).status_code == 200


def test_a_redirect_url_that_was_registered_before_the_grammar_goes_on_to_work(browser: Client, app: App) -> None:
    url = "https://site.example/i.php?tx[action]=cb"
    assert app.application.redirect_urls != [url]
    Application.objects.filter(pk=app.application.pk).update(redirect_uris=url)
    app.application.refresh_from_db()
    assert redirect_editor.explain(url, app.application.redirect_urls) is None
    place = decide(browser, authorize(browser, app.application))["Location"]
    assert place.startswith(f"{url}&code=")
    with pytest.raises(ValidationError, match="percent-encode it as %5B"):
        applications.change_redirect_urls(application=app.application, redirect_urls=[url], by=None)


@pytest.mark.parametrize("scope", ["openid  identify", " openid identify", "openid identify ", "\topenid\tidentify"])
def test_a_stray_space_in_the_scope_separates_nothing(browser: Client, app: App, scope: str) -> None:
    decide(browser, authorize(browser, app.application, scope=scope))
    assert Grant.objects.get().scope == "openid identify"


def test_a_visitor_signs_in_and_comes_back_to_the_request(user: User, app: App) -> None:
    browser = Client()
    answer = authorize(browser, app.application, state="a" * 2_000, nonce="n" * 500)
    assert len(answer["Location"]) < 100  # nothing of the request is in our URLs
    assert answer["Cache-Control"] == "no-store"
    pending = PendingRequest.objects.get()
    assert place_of(answer) == "/accounts/login/"
    assert waiting_at(answer) == f"/consent/{pending.pk}"
    signed_in = log_in(browser, waiting_at(answer))
    assert signed_in["Location"] == f"/consent/{pending.pk}"
    code = sent_back(decide(browser, signed_in))["code"]
    assert claims_of(app.exchange(code).json()["id_token"])["sub"] == user.pk


def test_a_visitor_whose_approval_is_kept_sees_no_consent_page(browser: Client, app: App) -> None:
    code_for(browser, app.application)
    visitor = Client()
    consent = waiting_at(authorize(visitor, app.application))
    log_in(visitor, consent)
    answer = visitor.get(consent)
    assert (answer.status_code, place_of(answer)) == (302, REDIRECT_URL)
    assert set(sent_back(answer)) == {"code", "state", "iss"}


def test_a_visitor_neither_sees_nor_answers_the_request(app: App) -> None:
    browser = Client()
    consent = waiting_at(authorize(browser, app.application))
    assert waiting_at(browser.get(consent)) == consent
    assert waiting_at(browser.post(consent, {"decision": "allow"})) == consent
    assert not Grant.objects.exists()
