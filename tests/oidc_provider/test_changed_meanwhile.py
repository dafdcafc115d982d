"""A waiting request is checked against the app and the user as they are at the decision."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from oidc_provider.applications import applications
from oidc_provider.authorize import approvals, flows
from oidc_provider.authorize.flows import Visitor
from oidc_provider.models import Approval
from tests.oidc_provider.protocol import (
    INVALID_GRANT,
    App,
    authorization_query,
    authorize,
    decide,
    error_sent_back,
    refused,
    sent_back,
)

pytestmark = pytest.mark.django_db


def test_cancel_is_a_refusal_even_when_another_tab_has_allowed(browser: Client, app: App) -> None:
    first, second = authorize(browser, app.application), authorize(browser, app.application)
    assert "code" in sent_back(decide(browser, first, "allow"))
    assert error_sent_back(decide(browser, second, "cancel")) == "access_denied"


def test_a_redirect_url_removed_meanwhile_gets_no_code(browser: Client, app: App) -> None:
    waiting = authorize(browser, app.application)
    applications.change_redirect_urls(
        application=app.application, redirect_urls=["https://elsewhere.example.org/cb"], by=None
    )
    for answer in (browser.get(waiting["Location"]), decide(browser, waiting)):
        assert answer.status_code == 400
        assert "invalid_redirect" in answer.content.decode()
    assert not Approval.objects.exists()


def test_a_scope_removed_meanwhile_is_invalid(browser: Client, app: App) -> None:
    waiting = authorize(browser, app.application, scope="openid identify")
    applications.change_scopes(application=app.application, scopes=["openid"], by=None)
    assert error_sent_back(decide(browser, waiting)) == "invalid_scope"
    assert not Approval.objects.exists()


def test_a_code_made_while_the_user_disconnects_is_dead(browser: Client, app: App, user: User) -> None:
    """The approval exists at `next_step`, and not when the code is issued."""
    sent_back(decide(browser, authorize(browser, app.application)))
    waiting = authorize(browser, app.application, prompt="consent")
    pending = app.application.pending_requests.get(pk=waiting["Location"].rpartition("/")[2])
    now = timezone.now()
    approvals.disconnect(user=user, application=app.application, by=user)
    url = flows.finish(pending, Visitor(user, now), now)
    code = url.partition("code=")[2].partition("&")[0]
    assert refused(app.exchange(code)) == INVALID_GRANT
    approvals.approve(user=user, application=app.application, scopes=["openid"], now=now)
    assert app.exchange(code).status_code == 200


def test_a_state_of_unescaped_utf_8_comes_back_as_it_was(browser: Client, app: App) -> None:
    query = authorization_query(app.application, state="STATE").replace("STATE", "né")
    answer = browser.get("/api/auth/oauth2/authorize", QUERY_STRING=query.encode().decode("latin-1"))
    assert sent_back(decide(browser, answer))["state"] == "né"
