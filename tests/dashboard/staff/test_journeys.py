"""From the request to what it opens: people ask, staff act on their pages, and the protocol answers otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from dashboard import access_requests
from oidc_provider import applications
from tests.dashboard.staff.pages import APPS, PEOPLE, QUEUE
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.oidc_provider.protocol import authorize, error_sent_back, place_of
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
    assert "Nobody waits for an answer" in staff.text

    applications.change_scopes(application=app, scopes=wanted, by=owner)
    visitor = Client()
    visitor.force_login(UserFactory())
    app.refresh_from_db()
    assert place_of(authorize(visitor, app, scope="openid email")).startswith("/consent/")


def test_a_relock_takes_the_scope_from_the_app_at_once(staff: Browser) -> None:
    app = ApplicationFactory(user=UserFactory(username="Ada", unlocked_scopes=["email"]))
    visitor = Client()
    visitor.force_login(UserFactory())
    staff.open(f"{PEOPLE}?q=ada")
    staff.open(f"{PEOPLE}{app.user.pk}/")
    assert "locked again" in press(staff, "Lock again", reason="It sold the addresses").text
    assert error_sent_back(authorize(visitor, app, scope="openid email")) == "invalid_scope"


@pytest.mark.django_db(transaction=True)  # a cached key is forgotten once its change is committed
def test_an_owner_asks_for_a_permission_staff_grant_it_and_the_call_answers(sign_in: SignIn) -> None:
    key = ApiKeyFactory(secret="the-secret", permissions=["imagehost:upload"])
    staff = sign_in("dashboard.decide_accessrequest")

    def call() -> Any:
        """An answer of the test client, which has no public type."""
        return Client().get(f"/api/lookup/user?type=uid&value={key.owner.uid}", headers={"X-API-Key": "the-secret"})

    assert call().json()["code"] == "KEY_NOT_FOUND"
    access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    press(staff.open(QUEUE), "Grant", reason="Known to us")
    assert call().status_code == 200

    keys_page = sign_in("accounts.change_apikey").open(f"{PEOPLE}{key.owner.pk}/")
    url = f"{PEOPLE}{key.owner.pk}/keys/{key.prefix}/lookup:user/withdraw/"
    keys_page.open(url).submit(reason="Too many calls")
    assert call().json()["code"] == "KEY_NOT_FOUND"


def test_staff_suspend_an_app_and_its_sign_in_refuses_until_it_is_restored(sign_in: SignIn) -> None:
    app = ApplicationFactory(name="Notes")
    staff = sign_in("oidc_provider.suspend_application")
    visitor = Client()
    visitor.force_login(UserFactory())
    assert authorize(visitor, app).status_code == 302

    (url,) = staff.open(f"{APPS}?q=notes").page.xpath("//span[@class='row__title']/a/@href")
    suspended = press(staff.open(url), "Suspend", reason="It asks for passwords").text
    assert "It asks for passwords" in suspended
    answer = authorize(visitor, app, accept="application/json")
    assert (answer.status_code, answer.json()["error"]) == (403, "client_disabled")

    assert "Notes works again." in press(staff, "Restore", reason="It has stopped").text
    assert authorize(visitor, app).status_code == 302
