"""A real sign-in of one's own app, step by step, without JavaScript."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from accounts.models import AuditEvent, User
from dashboard.apps import login_test
from dashboard.apps import queries as apps_queries
from dashboard.apps import usage as apps_usage
from oidc_provider.log import request_log
from oidc_provider.models import AccessToken, Application, Approval, Grant, RefreshToken, RequestRecord
from tests.dashboard.debugging.tries import open_try, press, sign_in, start
from tests.pages.markup import problems_of
from tests.support.browser import Browser


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
    assert "Every step went well" in ready.text
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
    assert callback["error"]["cause"].startswith("The person pressed Cancel")
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
def test_a_mistake_shows_the_error_with_cause_and_cure(
    ready: Browser, app: Application, values: dict[str, str], step: str, code: str, said: str
) -> None:
    failed = sign_in(ready, app, **values)[-1]
    assert (failed["title"], failed["is_good"], failed["error"]["code"]) == (step, False, code)
    assert said in failed["error"]["cause"]
    assert failed["error"]["cure"] in ready.text
    assert not AccessToken.objects.exists()
    assert problems_of(ready.response) == []


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
    assert row.secret_used_at is None
    assert row.last_used_at is not None
    assert apps_usage.figures(app, apps_usage.PERIODS["24h"], timezone.now()).total.sign_ins == 1


def test_a_try_without_a_scope_is_refused_by_the_form(ready: Browser, app: Application) -> None:
    form = open_try(ready, app).form("prompt")
    data = {"csrfmiddlewaretoken": form.fields["csrfmiddlewaretoken"]}
    ready.response = ready.client.post(form.get("action"), data)
    assert ready.errors() == ["Choose at least one scope."]
