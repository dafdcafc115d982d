"""From the request to what it opens: people ask, staff act on their pages, and the protocol answers otherwise."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from dashboard import access_requests
from oidc_provider.applications import applications
from tests.dashboard.staff.pages import PEOPLE, QUEUE
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.oidc_provider.protocol import authorize, place_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]


def press(browser: Browser, button: str, **values: str) -> Browser:
    """Follow the link called `button`, and send the form behind it."""
    (url,) = {link.get("href") for link in browser.page.iter("a") if link.text_content().strip() == button}
    return browser.open(url).submit(**values)


def test_an_owner_asks_for_email_staff_grant_it_and_the_app_registers_it(sign_in: SignIn) -> None:
    app = ApplicationFactory(registered_scopes=["openid"])
    owner, staff = app.user, sign_in("dashboard.decide_accessrequest")
    wanted = ["openid", "email"]
    with pytest.raises(ValidationError):
        applications.change_scopes(application=app, scopes=wanted, by=owner)
    access_requests.ask_for_scope(user=owner, scope="email", reason="Receipts")

    assert "Receipts" in staff.open(QUEUE).text
    assert "granted" in press(staff, "Grant", reason="Known to us").text
    assert "No requests are waiting" in staff.text

    applications.change_scopes(application=app, scopes=wanted, by=owner)
    visitor = Client()
    visitor.force_login(UserFactory())
    app.refresh_from_db()
    assert place_of(authorize(visitor, app, scope="openid email")).startswith("/consent/")


def test_an_owner_asks_for_a_permission_staff_grant_it_and_the_call_answers(
    sign_in: SignIn, django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]]
) -> None:
    key = ApiKeyFactory(secret="the-secret", permissions=["imagehost:upload"])
    staff = sign_in("dashboard.decide_accessrequest")

    def call() -> Any:
        """An answer of the test client, which has no public type."""
        return Client().get(f"/api/lookup/user?type=uid&value={key.owner.uid}", headers={"X-API-Key": "the-secret"})

    assert call().json()["code"] == "KEY_NOT_FOUND"
    access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    with django_capture_on_commit_callbacks(execute=True):  # a cached key is forgotten at the commit
        press(staff.open(QUEUE), "Grant", reason="Known to us")
    assert call().status_code == 200

    keys_page = sign_in("accounts.change_apikey").open(f"{PEOPLE}{key.owner.pk}/")
    url = f"{PEOPLE}{key.owner.pk}/keys/{key.prefix}/lookup:user/withdraw/"
    with django_capture_on_commit_callbacks(execute=True):
        keys_page.open(url).submit(reason="Too many calls")
    assert call().json()["code"] == "KEY_NOT_FOUND"
