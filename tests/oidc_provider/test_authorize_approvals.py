"""The consent page is shown for new scopes, not for approved ones."""

from __future__ import annotations

import pytest
from django.test import Client

from oidc_provider.applications import applications
from oidc_provider.models import Approval
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    FORM,
    ISSUER,
    App,
    authorization_query,
    authorize,
    code_for,
    decide,
    error_sent_back,
    sent_back,
)


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
