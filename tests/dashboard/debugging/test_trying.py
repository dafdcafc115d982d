"""The login test of an app, step by step and without JavaScript, and what a forged or stale answer cannot do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, User
from dashboard.client_apps import login_test
from dashboard.client_apps import queries as apps_queries
from dashboard.client_apps import usage as apps_usage
from oidc_provider import request_log
from oidc_provider.applications import applications
from oidc_provider.models import AccessToken, Application, Approval, Grant, RefreshToken, RequestRecord
from tests.accounts.clock import NOON
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import CODE_CHALLENGE, ApplicationFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser


def open_try(browser: Browser, app: Application) -> Browser:
    return browser.open(reverse("application_try", args=[app.client_id]))


def send(browser: Browser, path: str, data: dict[str, Any]) -> Browser:
    """Post, and follow where it leads: redirects to apps, which the test client does not follow, lead back here."""
    answer: Any = browser.client.post(path, data)
    while answer.status_code in {302, 303}:
        answer = browser.client.get(answer["Location"])
    browser.response = answer
    return browser


def press(browser: Browser, name: str, value: str) -> Browser:
    """Press the button `name=value`."""
    (button,) = browser.page.xpath("//button[@name=$name][@value=$value]", name=name, value=value)
    (form,) = button.iterancestors("form")
    path = form.get("action") or browser.response.request["PATH_INFO"]
    return send(browser, path, {**dict(form.form_values()), name: value})


@pytest.fixture
def ready(browser: Browser, app: Application) -> Browser:
    """`browser`; the callback is registered."""
    return press(open_try(browser, app), "act", "add")


def start(browser: Browser, app: Application, **values: str) -> Browser:
    """Fill the form of the page in and send it; every scope is ticked from the beginning."""
    form = open_try(browser, app).form("prompt")
    for name, value in values.items():
        form.fields[name] = value
    data: dict[str, Any] = {}
    for name, value in form.form_values():
        data.setdefault(name, []).append(value)
    return send(browser, str(form.get("action")), data)


def sign_in(browser: Browser, app: Application, **values: str) -> list[dict[str, Any]]:
    """The steps."""
    start(browser, app, **values)
    if "/consent/" in browser.response.request["PATH_INFO"]:
        press(browser, "decision", "allow")
    assert browser.response.request["PATH_INFO"].endswith("/try/result/")
    steps: list[dict[str, Any]] = browser.response.context["steps"]
    return steps


def started(browser: Browser, app: Application) -> str:
    """Sign in as far as the redirect to the callback, whose URL this is."""
    open_try(browser, app)
    form = browser.form("prompt")
    token = form.fields["csrfmiddlewaretoken"]
    data = {"csrfmiddlewaretoken": token, "scopes": ["openid", "offline_access"]}
    answer = browser.client.get(browser.client.post(form.get("action"), data)["Location"])
    if answer["Location"].startswith("/consent/"):
        answer = browser.client.post(answer["Location"], {"decision": "allow", "csrfmiddlewaretoken": token})
    return str(answer["Location"])


def test_one_click_registers_the_callback_and_one_takes_it_off(browser: Browser, app: Application, user: User) -> None:
    before = app.redirect_urls
    press(open_try(browser, app), "act", "add")
    app.refresh_from_db()
    assert app.redirect_urls == [*before, login_test.callback_url(app)]
    press(browser, "act", "remove")
    app.refresh_from_db()
    assert app.redirect_urls == before
    events = AuditEvent.objects.filter(verb="application:redirect_urls_changed").order_by("pk")
    assert [event.actor for event in events] == [user, user]


def test_an_eleventh_redirect_url_is_refused_with_the_reason(browser: Browser, app: Application) -> None:
    app.redirect_uris = " ".join(f"https://app.example.org/{number}" for number in range(10))
    app.save()
    press(open_try(browser, app), "act", "add")
    assert "There are 11 redirect URLs; an app can have at most 10." in browser.text


def test_the_only_redirect_url_cannot_be_taken_off(browser: Browser, app: Application) -> None:
    app.redirect_uris = login_test.callback_url(app)
    app.save()
    press(open_try(browser, app), "act", "remove")
    assert "Register at least one redirect URL." in browser.text
    app.refresh_from_db()
    assert login_test.is_callback_registered(app)


def test_every_step_of_a_good_sign_in_is_shown_and_proved(ready: Browser, app: Application, user: User) -> None:
    steps = sign_in(ready, app)
    assert [(step["title"], step["is_good"]) for step in steps] == [
        ("Authorization request", True),
        ("Callback", True),
        ("Token request", True),
        ("id_token", True),
        ("User info", True),
        ("Scopes", True),
        ("Tokens revoked", True),
    ]
    assert not AccessToken.objects.exists()
    assert not RefreshToken.objects.exists()
    assert Grant.objects.get().used_at is not None
    assert Approval.objects.get().user == user
    assert "Every step succeeded" in ready.text
    assert f'"sub": "{user.pk}"' in ready.response.content.decode().replace("&quot;", '"')
    assert problems_of(ready.response) == []


def test_no_secret_value_reaches_the_page_or_the_session(ready: Browser, app: Application) -> None:
    open_try(ready, app)
    form = ready.form("prompt")
    token = form.fields["csrfmiddlewaretoken"]
    answer = ready.client.post(form.get("action"), {"scopes": app.registered_scopes, "csrfmiddlewaretoken": token})
    consent = ready.client.get(answer["Location"])["Location"]
    back = ready.client.post(consent, {"decision": "allow", "csrfmiddlewaretoken": token})["Location"]
    (code,) = parse_qs(urlsplit(back).query)["code"]
    verifier = ready.client.session["tries"][app.client_id]["code_verifier"]
    page = ready.open(back).response.content.decode()
    kept = repr(dict(ready.client.session.items()))
    for secret in (code, verifier):
        assert secret not in page
        assert secret not in kept
    masked = page.split("&quot;id_token&quot;: &quot;")[1].split("&quot;")[0]
    assert masked.startswith("eyJhbG… (")


def test_a_second_try_skips_the_consent_page_and_prompt_brings_it_back(ready: Browser, app: Application) -> None:
    sign_in(ready, app)
    start(ready, app)
    assert ready.response.request["PATH_INFO"].endswith("/try/result/")
    start(ready, app, prompt="consent")
    assert ready.response.request["PATH_INFO"].startswith("/consent/")


def test_a_refused_consent_is_explained(ready: Browser, app: Application) -> None:
    start(ready, app)
    press(ready, "decision", "cancel")
    callback = ready.response.context["steps"][1]
    assert callback["error"]["code"] == "access_denied"
    assert callback["error"]["cause"].startswith("The user pressed Cancel")
    assert len(ready.response.context["steps"]) == 2


@pytest.mark.parametrize(
    ("values", "step", "code", "said"),
    [
        ({"mistake": "profile"}, "Callback", "invalid_scope", "Many libraries ask for profile"),
        ({"mistake": "pkce"}, "Callback", "invalid_request", "PKCE is off"),
        ({"prompt": "none"}, "Callback", "consent_required", "has not approved all of these scopes"),
        ({"mistake": "verifier"}, "Token request", "invalid_grant", "The code_verifier does not belong"),
        ({"mistake": "redirect_uri"}, "Token request", "invalid_grant", "redirect_uri differs"),
    ],
)
def test_a_mistake_shows_the_error_with_cause_and_fix(
    ready: Browser, app: Application, values: dict[str, str], step: str, code: str, said: str
) -> None:
    failed = sign_in(ready, app, **values)[-1]
    assert (failed["title"], failed["is_good"], failed["error"]["code"]) == (step, False, code)
    assert said in failed["error"]["cause"]
    assert failed["error"]["fix"] in ready.text
    assert not AccessToken.objects.exists()
    assert problems_of(ready.response) == []


def test_the_request_fails_with_a_scope_that_is_not_registered(ready: Browser, app: Application) -> None:
    request, callback = sign_in(ready, app, mistake="profile")
    assert (request["is_good"], callback["is_good"]) == (False, False)
    failed = [check["says"] for check in request["checks"] if not check["holds"]]
    assert failed == ["The scope profile is registered"]
    assert "What it proves: Your app" not in ready.text


def test_without_openid_there_is_no_id_token_and_user_info_refuses(ready: Browser, app: Application) -> None:
    app.refresh_from_db()
    app.registered_scopes = ["identify"]
    app.save()
    steps = {step["title"]: step for step in sign_in(ready, app)}
    assert steps["id_token"]["note"].startswith("There is no id_token")
    assert steps["User info"]["error"]["code"] == "insufficient_scope"
    assert steps["Tokens revoked"]["is_good"]


def test_a_try_is_a_sign_in_but_no_use_of_the_secret(ready: Browser, app: Application) -> None:
    sign_in(ready, app)
    request_log.buffer.write()
    kinds = RequestRecord.objects.order_by("pk").values_list("kind", "outcome")
    assert list(kinds) == [("ASKED", "ok"), ("SHOWN", "ok"), ("APPROVED", "ok"), ("TRIED", "ok")]
    row = apps_queries.row_of(app)
    assert [secret.used_at for secret in row.application.secrets] == [None]
    assert row.last_used_at is not None
    assert apps_usage.figures(app, apps_usage.PERIODS["24h"], timezone.now()).total.counts["sign_ins"] == 1


def test_a_try_without_a_scope_is_refused_by_the_form(ready: Browser, app: Application) -> None:
    form = open_try(ready, app).form("prompt")
    data = {"csrfmiddlewaretoken": form.fields["csrfmiddlewaretoken"]}
    ready.response = ready.client.post(form.get("action"), data)
    assert ready.errors() == ["Choose at least one scope."]


def test_the_click_keeps_what_another_page_has_changed_meanwhile(app: Application, user: User) -> None:
    stale = Application.objects.get()
    other = "https://app.example.org/other"
    applications.change_redirect_urls(application=app, redirect_urls=[*app.redirect_urls, other], by=user)
    login_test.add_callback(application=stale, by=user)
    app.refresh_from_db()
    assert app.redirect_urls[1:] == [other, login_test.callback_url(app)]
    applications.change_redirect_urls(application=app, redirect_urls=[login_test.callback_url(app), other], by=user)
    login_test.remove_callback(
        application=Application(pk=app.pk, user=user, redirect_uris=stale.redirect_uris), by=user
    )
    app.refresh_from_db()
    assert app.redirect_urls == [other]


@pytest.mark.parametrize("parameter", ["state", "iss"])
def test_a_callback_with_another_state_or_issuer_exchanges_nothing(
    ready: Browser, app: Application, parameter: str
) -> None:
    back = started(ready, app)
    answer = {name: value for name, (value,) in parse_qs(urlsplit(back).query).items()}
    ready.open(f"{urlsplit(back).path}?{urlencode({**answer, parameter: 'forged'})}")
    assert [step["is_good"] for step in ready.response.context["steps"]] == [True, False]
    assert Grant.objects.get().used_at is None


def test_a_callback_that_comes_twice_or_unasked_uses_nothing(ready: Browser, app: Application) -> None:
    back = started(ready, app)
    assert ready.client.head(back).status_code == 405  # a prefetch uses nothing up
    assert "Every step succeeded" in ready.open(back).text
    assert "No test is running" in ready.open(back).text
    assert Grant.objects.count() == 1


def test_a_callback_of_another_session_of_the_owner_exchanges_nothing(
    ready: Browser, app: Application, user: User
) -> None:
    """A link with a code of the owner's own, sent to a browser of theirs that began no sign-in."""
    back = started(ready, app)
    other = Client()
    other.force_login(user)
    assert other.get(back)["Location"] == reverse("application_try", args=[app.client_id])
    assert Grant.objects.get().used_at is None


def test_a_code_that_a_strangers_request_made_is_worth_nothing_here(ready: Browser, app: Application) -> None:
    """The built-in callback is registered, so anybody can ask for a code that leads there, with their own verifier."""
    back = started(ready, app)
    (state,) = parse_qs(urlsplit(back).query)["state"]
    asked = {
        "client_id": app.client_id,
        "redirect_uri": login_test.callback_url(app),
        "response_type": "code",
        "scope": "openid",
        "state": state,
        "code_challenge": CODE_CHALLENGE,
        "code_challenge_method": "S256",
    }
    planted = ready.client.get(reverse("authorize"), asked)["Location"]
    ready.open(planted)
    failed = ready.response.context["steps"][-1]
    assert (failed["title"], failed["error"]["code"]) == ("Token request", "invalid_grant")
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize(("seconds", "is_late"), [(1200, False), (1201, True)])
def test_an_answer_counts_for_20_minutes(app: Application, seconds: int, is_late: bool) -> None:
    under_way = login_test.begin(app, scopes=["openid"], prompt="", mistake="", now=NOON)
    assert under_way.is_late(NOON + timedelta(seconds=seconds)) is is_late


def test_a_late_callback_is_refused(ready: Browser, app: Application) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        back = started(ready, app)
        clock.shift(1201)
        ready.open(back)
    assert "The answer came within 20 minutes" in ready.text
    assert Grant.objects.get().used_at is None


def test_a_session_keeps_the_five_newest_tries() -> None:
    session: dict[str, object] = {}
    apps = [ApplicationFactory.build(client_id=str(number)) for number in range(6)]
    for app in apps:
        login_test.keep(session, app, login_test.begin(app, scopes=["openid"], prompt="", mistake="", now=NOON))
    assert [login_test.taken(session, app) is not None for app in apps] == [False, *[True] * 5]
    assert login_test.taken(session, apps[5]) is None


def test_the_code_of_another_person_is_worth_nothing_here(
    ready: Browser, app: Application, other_browser: Client
) -> None:
    """Somebody signs in with a link that the owner made: the code in their address bar is theirs alone."""
    open_try(ready, app)
    form = ready.form("prompt")
    data = {"csrfmiddlewaretoken": form.fields["csrfmiddlewaretoken"], "scopes": ["openid"]}
    link = ready.client.post(form.get("action"), data)["Location"]
    consent = other_browser.get(link)["Location"]
    back = other_browser.post(consent, {"decision": "allow"})["Location"]
    assert other_browser.get(back).status_code == 404
    ready.open(back)
    failed = ready.response.context["steps"][-1]
    assert failed["error"] == {
        **failed["error"],
        "code": "invalid_grant",
        "description": "The code was made for another person.",
    }
    assert Grant.objects.get().used_at is None
    assert not AccessToken.objects.exists()


def test_a_suspended_app_cannot_be_tried(ready: Browser, app: Application) -> None:
    open_try(ready, app)
    form = ready.form("prompt")
    data = {"csrfmiddlewaretoken": form.fields["csrfmiddlewaretoken"], "scopes": ["openid"]}
    back = started(ready, app)
    applications.suspend(application=app, by=None, reason="Spam.")
    assert "no user can sign in to it, not even you" in open_try(ready, app).text
    answer = ready.client.post(form.get("action"), data)
    assert answer["Location"] == reverse("application_try", args=[app.client_id])
    ready.open(back)  # a sign-in that had begun before
    assert ready.response.context["steps"][-1]["error"]["code"] == "invalid_client"


def test_without_the_callback_nothing_is_started(browser: Browser, app: Application) -> None:
    place = reverse("application_try_start", args=[app.client_id])
    token = str(open_try(browser, app).client.cookies["csrftoken"].value)
    answer = browser.client.post(place, {"scopes": ["openid"], "csrfmiddlewaretoken": token})
    assert answer["Location"] == reverse("application_try", args=[app.client_id])
    assert "tries" not in browser.client.session


@pytest.fixture
def other_browser(db: None) -> Client:
    browser = Client()
    browser.force_login(UserFactory(username="Ben"))
    return browser
