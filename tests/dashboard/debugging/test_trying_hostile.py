"""What must not come of a try: nobody else's code, no second use, no stale or foreign answer."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from accounts.models import User
from dashboard.apps import login_test
from oidc_provider.applications import applications
from oidc_provider.models import AccessToken, Application, Grant
from tests.dashboard.debugging.tries import open_try, started
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import CODE_CHALLENGE, ApplicationFactory
from tests.oidc_provider.moments import NOON
from tests.support.browser import Browser


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
    assert "Every step went well" in ready.open(back).text
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
