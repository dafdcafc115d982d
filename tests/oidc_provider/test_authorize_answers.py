"""A valid authorization request: login, consent, kept approvals, and the answer within ten minutes."""

from __future__ import annotations

from datetime import timedelta
from http.cookies import SimpleCookie

import lxml.html
import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory

from accounts.models import User
from accounts.sign_up import waiting_apps
from dashboard.client_apps import redirect_editor
from oidc_provider.applications import applications
from oidc_provider.models import Application, Approval, Grant, PendingRequest
from tests.factories.oidc_provider import REDIRECT_URL
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    FORM,
    ISSUER,
    App,
    authorization_query,
    authorize,
    claims_of,
    code_for,
    decide,
    error_sent_back,
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
        (
            "https://app.example.org/i.php?tx%5Baction%5D=cb",
            None,
            "https://app.example.org/i.php?tx%5Baction%5D=cb&",
        ),
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


def _is_asked(browser: Client, app: App, scope: str, **changes: str) -> bool:
    answer = authorize(browser, app.application, scope=scope, **changes)
    if answer["Location"].startswith("/consent/"):
        return True
    assert set(sent_back(answer)) == {"code", "state", "iss"}
    return False


def _approved() -> list[str]:
    return Approval.objects.get().scopes


@pytest.mark.parametrize(
    ("approved", "asked", "is_shown"),
    [
        ("openid identify", "openid identify", False),
        ("openid identify", "identify", False),
        ("openid", "openid identify", True),
    ],
)
def test_the_page_is_skipped_when_every_scope_is_approved(
    browser: Client, app: App, approved: str, asked: str, is_shown: bool
) -> None:
    code_for(browser, app.application, scope=approved)
    assert _is_asked(browser, app, asked) is is_shown


def test_new_scopes_are_added_to_the_approval(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid")
    code_for(browser, app.application, scope="email identify")
    assert _approved() == ["openid", "identify", "email"]
    assert not _is_asked(browser, app, "openid identify email")


def test_fewer_scopes_leave_the_approval_and_are_all_that_is_granted(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid identify email")
    assert app.sign_in(browser, "openid")["scope"] == "openid"
    assert _approved() == ["openid", "identify", "email"]


def test_cancelling_leaves_the_approval_as_it_was(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid")
    decide(browser, authorize(browser, app.application, scope="openid email"), "cancel")
    assert _approved() == ["openid"]


@pytest.mark.parametrize("prompt", ["consent", " consent consent"])
def test_prompt_consent_always_shows_the_page(browser: Client, app: App, prompt: str) -> None:
    code_for(browser, app.application)
    answer = authorize(browser, app.application, prompt=prompt)
    assert answer["Location"].startswith("/consent/")
    assert browser.get(answer["Location"]).status_code == 200
    assert "code" in sent_back(decide(browser, answer))


def test_an_approval_is_for_one_person_and_one_app(
    browser: Client, other_browser: Client, app: App, other_app: App
) -> None:
    other_app.application.user = app.application.user  # two apps of one owner are two apps
    other_app.application.save()
    code_for(browser, app.application)
    assert _is_asked(other_browser, app, "openid")
    assert _is_asked(browser, other_app, "openid")
    assert not _is_asked(browser, app, "openid")


def test_a_scope_that_the_app_gave_up_cannot_be_asked_for_though_it_is_approved(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid identify")
    applications.change_scopes(application=app.application, scopes=["openid"], by=None)
    assert error_sent_back(authorize(browser, app.application, scope="openid identify")) == "invalid_scope"
    assert not _is_asked(browser, app, "openid")


def test_prompt_none_answers_with_the_missing_step(browser: Client, app: App) -> None:
    visitor = Client()
    assert error_sent_back(authorize(visitor, app.application, prompt="none")) == "login_required"
    assert not visitor.session.keys()  # nothing waits
    assert error_sent_back(authorize(browser, app.application, prompt="none")) == "consent_required"
    code_for(browser, app.application, scope="openid")
    wider = authorize(browser, app.application, scope="openid identify", prompt="none")
    assert error_sent_back(wider) == "consent_required"
    assert not _is_asked(browser, app, "openid", prompt="none")


def test_an_immediate_answer_to_the_app_is_kept_by_no_cache_and_names_no_page(browser: Client, app: App) -> None:
    """A code, or an error, that comes without a page has the headers of one that comes after Allow."""
    query = authorization_query(app.application, prompt="none")
    refused = [browser.get(f"{AUTHORIZE}?{query}"), browser.post(AUTHORIZE, query, content_type=FORM)]
    assert [error_sent_back(answer) for answer in refused] == ["consent_required"] * 2
    code_for(browser, app.application)
    allowed = [browser.get(f"{AUTHORIZE}?{query}"), browser.post(AUTHORIZE, query, content_type=FORM)]
    for answer in allowed:
        values = sent_back(answer)
        assert values == {"code": values["code"], "state": "the state", "iss": ISSUER}
    for answer in [*refused, *allowed]:
        assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
        assert answer["X-Request-Id"]
        assert not answer.cookies
        assert not answer.content


JUST_IN_TIME = timedelta(minutes=9, seconds=59)
TOO_LATE = timedelta(minutes=10)


@pytest.mark.parametrize(("method", "data"), [("get", {}), ("post", {"decision": "allow"})])
def test_later_there_is_a_page_with_a_link_back_to_the_app(
    clock: time_machine.Traveller, browser: Client, app: App, method: str, data: dict[str, str]
) -> None:
    path = authorize(browser, app.application)["Location"]
    clock.shift(TOO_LATE)
    answer = getattr(browser, method)(path, data)
    assert answer.status_code == 400
    assert "within 10 minutes" in answer.content.decode()
    links = lxml.html.fromstring(answer.content).xpath('//main//a[starts-with(@href, "https://app.example.org")]/@href')
    assert [link.partition("?")[0] for link in links] == [REDIRECT_URL]
    assert "error=access_denied" in links[0]
    assert "state=the+state" in links[0]
    assert not Approval.objects.exists()
    assert not Grant.objects.exists()


def test_login_counts_into_the_ten_minutes(clock: time_machine.Traveller, user: User, app: App) -> None:
    visitor = Client()
    waiting = waiting_at(authorize(visitor, app.application))
    clock.shift(JUST_IN_TIME)
    log_in(visitor, waiting)
    clock.shift(timedelta(seconds=1))
    assert visitor.get(waiting).status_code == 400
    assert visitor.post(waiting, {"decision": "allow"}).status_code == 400
    assert not Grant.objects.exists()


def test_switching_the_account_too_late_keeps_the_session(
    clock: time_machine.Traveller, browser: Client, app: App
) -> None:
    path = authorize(browser, app.application)["Location"]
    clock.shift(TOO_LATE)
    assert browser.post(f"{path}/switch-account").status_code == 400
    assert "_auth_user_id" in browser.session


def test_the_code_lives_ten_minutes_from_its_own_issue(
    clock: time_machine.Traveller, browser: Client, app: App
) -> None:
    path = authorize(browser, app.application)["Location"]
    clock.shift(JUST_IN_TIME)
    assert browser.get(path).status_code == 200
    code = sent_back(browser.post(path, {"decision": "allow"}))["code"]
    clock.shift(JUST_IN_TIME)
    assert app.exchange(code).status_code == 200


def test_a_visitor_gets_a_cookie_for_ten_minutes_and_no_session(clock: time_machine.Traveller, app: App) -> None:
    visitor = Client()
    answer = authorize(visitor, app.application, login_hint="ada")
    assert set(answer.cookies) == {"waiting_apps"}
    (cookie,) = answer.cookies.values()
    assert (cookie["max-age"], cookie["httponly"], cookie["samesite"]) == (600, True, "Lax")
    assert not Session.objects.exists()
    assert _hint(visitor) == "ada"
    clock.shift(TOO_LATE + timedelta(seconds=1))
    assert _hint(visitor) == ""


@pytest.mark.parametrize("decision", ["allow", "cancel", ""])
def test_the_answer_to_the_app_drops_the_cookie(browser: Client, app: App, decision: str) -> None:
    """By Allow, by Cancel, and by a kept approval, for which the consent page has nothing to ask."""
    if not decision:
        code_for(browser, app.application)
    visitor = Client()
    consent = waiting_at(authorize(visitor, app.application, login_hint="ada"))
    log_in(visitor, consent)
    answer = visitor.post(consent, {"decision": decision}) if decision else visitor.get(consent)
    assert place_of(answer) == app.application.redirect_urls[0]
    assert (answer.cookies["waiting_apps"].value, answer.cookies["waiting_apps"]["max-age"]) == ("", 0)
    visitor.logout()
    assert _hint(visitor) == ""


@pytest.mark.parametrize("value", ["", "x", "\x00", "x" * 5_000, "W1siaHR0cHM6Il0sIiJd:1:x"])
def test_a_cookie_that_we_did_not_sign_says_nothing(db: None, value: str) -> None:
    """Sent as a header, for Python's cookies refuse NUL from 3.14 on."""
    _, coded = SimpleCookie().value_encode(value)
    visitor = Client(headers={"cookie": f"waiting_apps={coded}"})
    assert _hint(visitor) == ""
    assert "form-action 'self';" in visitor.get("/accounts/login/")["Content-Security-Policy"]


def test_the_five_newest_apps_are_named_each_once(app: App) -> None:
    visitor = Client()
    urls = [f"https://app{number}.example.org/cb" for number in range(6)]
    applications.change_redirect_urls(application=app.application, redirect_urls=urls, by=None)
    for url in (*urls, urls[4]):
        authorize(visitor, app.application, redirect_uri=url)
    request = RequestFactory().get("/")
    request.COOKIES["waiting_apps"] = visitor.cookies["waiting_apps"].value
    named = waiting_apps.of(request).form_actions
    assert named == tuple(f"https://app{number}.example.org https:" for number in (1, 2, 3, 5, 4))
    assert len(visitor.cookies["waiting_apps"].value) < 1_000


def _hint(browser: Client) -> str:
    return str(browser.get("/accounts/login/").context["form"].initial.get("login", ""))
