"""An account that is made with a passkey and has no password."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.mail import EmailMessage

from accounts.models import AccountDeletion, AuditEvent, User
from tests.accounts.test_sign_in import leave, sign_in
from tests.accounts.test_sign_up import code_in
from tests.dashboard.signing_in import browser_of
from tests.factories.accounts import UserFactory
from tests.support.browser import Browser
from tests.support.second_factors import Passkey, with_app, with_key

pytestmark = pytest.mark.django_db

PAGE, LAST_STEP = "/accounts/signup/passkey/", "/accounts/2fa/webauthn/signup/"
NEW_PASSWORD = "correct battery of horses"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as traveller:
        yield traveller


def begun(page: str = PAGE, **changes: str) -> Browser:
    return Browser().open(page).submit(**{"username": "Ada", "email": "ada@example.org", **changes})


def options_of(browser: Browser, name: str) -> dict[str, Any]:
    """What the page gives to its script."""
    options: dict[str, Any] = json.loads(browser.page.get_element_by_id("js_data").text)[name]["publicKey"]
    return options


def with_passkey(browser: Browser) -> Passkey:
    """Do the last step, which must be the current page."""
    passkey = Passkey(User.objects.get(username="Ada"), is_added=False)
    browser.submit(credential=passkey.creation(options_of(browser, "creation_options")))
    return passkey


@pytest.fixture
def ada_and_passkey(mailoutbox: list[EmailMessage]) -> tuple[Browser, Passkey]:
    browser = begun().submit(code=code_in(mailoutbox[0]))
    return browser, with_passkey(browser)


def passwordless(**fields: Any) -> User:
    user: User = UserFactory(username="Ada", email="ada@example.org", **fields)
    user.set_unusable_password()
    user.save()
    return user


def test_a_person_confirms_the_address_makes_a_passkey_and_is_signed_in(mailoutbox: list[EmailMessage]) -> None:
    browser = begun(f"{PAGE}?next=/accounts/email/")
    assert [field for form in browser.page.forms for field in form.fields if "password" in field] == []
    browser.submit(code=code_in(mailoutbox[0]))
    user = User.objects.get()
    assert (browser.response.request["PATH_INFO"], browser.user()) == (LAST_STEP, None)
    assert EmailAddress.objects.get().verified
    with_passkey(browser)
    assert (browser.user(), browser.response.request["PATH_INFO"]) == (user, "/accounts/email/")
    assert not user.has_usable_password()
    assert list(Authenticator.objects.values_list("user", "type")) == [(user.pk, "webauthn")]
    assert len(mailoutbox) == 1  # the code: no email tells of a new browser


def test_no_passkey_is_made_before_the_address_is_confirmed(mailoutbox: list[EmailMessage]) -> None:
    browser = begun()
    credential = Passkey(User.objects.get(), is_added=False).creation({"challenge": "AAAA", "rp": {"id": "testserver"}})
    browser.client.handler.enforce_csrf_checks = False
    for visitor in (browser.client, Browser().client):
        visitor.handler.enforce_csrf_checks = False
        for answer in (visitor.get(LAST_STEP), visitor.post(LAST_STEP, {"credential": credential})):
            assert answer.status_code == 302
    assert not Authenticator.objects.exists()
    browser.submit(code=code_in(mailoutbox[0]))
    browser.submit(credential=credential)  # made for another challenge
    assert browser.response.request["PATH_INFO"] == LAST_STEP
    assert (browser.user(), Authenticator.objects.exists()) == (None, False)


def test_a_rule_of_sign_up_holds_for_this_way_too() -> None:
    UserFactory(username="ADA")
    browser = begun()
    assert (browser.response.status_code, browser.errors()) == (200, ["This name is already taken."])


def test_both_ways_to_sign_up_share_a_limit() -> None:
    statuses = [begun(page, username="?").response.status_code for page in ("/accounts/signup/", PAGE) * 10]
    assert (statuses, begun(username="?").response.status_code) == ([200] * 20, 429)


def test_a_known_address_looks_like_any_other_and_a_new_one_leads_on(mailoutbox: list[EmailMessage]) -> None:
    first = begun()
    UserFactory(username="Grace", email="grace@example.org")
    second = begun(username="Joan", email="grace@example.org")
    assert second.response.redirect_chain == first.response.redirect_chain
    assert second.text == first.text.replace("ada@example.org", "grace@example.org")
    assert sorted(User.objects.values_list("username", flat=True)) == ["Ada", "Grace"]
    second.open("/accounts/confirm-email/change/").submit(email="joan@example.org")
    second.submit(code=code_in(mailoutbox[-1]))
    assert second.response.request["PATH_INFO"] == LAST_STEP
    assert not User.objects.get(username="Joan").has_usable_password()


def test_pages_that_ask_who_it_is_ask_for_the_passkey(
    ada_and_passkey: tuple[Browser, Passkey], clock: time_machine.Traveller
) -> None:
    browser, passkey = ada_and_passkey
    clock.shift(timedelta(minutes=6))
    browser.open("/dashboard/account/delete/")
    assert browser.response.request["PATH_INFO"] == "/accounts/2fa/webauthn/reauthenticate/"
    browser.submit(credential=passkey.answer(options_of(browser, "request_options")))
    assert browser.response.request["PATH_INFO"] == "/dashboard/account/delete/"
    browser.submit(username="Ada")
    assert AccountDeletion.objects.count() == 1
    download: Any = browser.client.get("/dashboard/account/data/download/")  # Django's type has no stream
    copy = json.loads(b"".join(download.streaming_content))
    assert [(row["type"], row["name"]) for row in copy["second_factors"]] == [("webauthn", "Key 1")]


def test_a_password_is_set_only_by_who_signed_in_a_short_time_ago(
    ada_and_passkey: tuple[Browser, Passkey], clock: time_machine.Traveller
) -> None:
    browser, _ = ada_and_passkey
    clock.shift(timedelta(minutes=6))
    browser.open("/accounts/password/set/")
    assert browser.response.request["PATH_INFO"] == "/accounts/2fa/webauthn/reauthenticate/"


def test_the_last_passkey_of_an_account_without_a_password_stays() -> None:
    user = passwordless()
    Passkey(user)
    with_key(user)  # a security key alone does not sign in
    browser = browser_of(user, password_age=301)
    browser.open(f"/accounts/2fa/webauthn/keys/{Authenticator.objects.earliest('pk').pk}/remove/")
    assert browser.response.request["PATH_INFO"] == "/accounts/2fa/webauthn/"
    assert "Your account has no password. Set one, or add another passkey" in browser.text
    answer = browser.client.get(f"/accounts/2fa/webauthn/keys/{Authenticator.objects.latest('pk').pk}/remove/")
    assert answer.headers["Location"].startswith("/accounts/2fa/webauthn/reauthenticate/")


# --- The passkey is lost ----------------------------------------------------------------------------------------------


def recovered(mailoutbox: list[EmailMessage]) -> Browser:
    """Choose a password by the mailed link."""
    browser = Browser().open("/accounts/password/reset/").submit(email="ada@example.org")
    link = next(line for line in str(mailoutbox[-1].body).splitlines() if "/password/reset/key/" in line)
    browser.open(link.removeprefix("http://127.0.0.1:8000"))
    return browser.submit(password1=NEW_PASSWORD, password2=NEW_PASSWORD)


def test_who_lost_the_passkey_gets_in_by_the_address(
    ada_and_passkey: tuple[Browser, Passkey], mailoutbox: list[EmailMessage]
) -> None:
    leave(ada_and_passkey[0])
    recovered(mailoutbox)
    user = User.objects.get()
    assert sign_in("Ada", NEW_PASSWORD).user() == user
    assert not Authenticator.objects.exists()
    event = AuditEvent.objects.get(verb="user:authenticator_removed")
    assert (event.actor, event.data) == (user, {"type": "webauthn", "by_mail": True})


def test_who_never_made_the_passkey_gets_in_by_the_address(mailoutbox: list[EmailMessage]) -> None:
    begun().submit(code=code_in(mailoutbox[0]))
    recovered(mailoutbox)
    assert sign_in("Ada", NEW_PASSWORD).user() == User.objects.get()


def test_a_last_step_that_was_left_adds_no_passkey_to_an_account_that_has_another_way_in(
    mailoutbox: list[EmailMessage],
) -> None:
    left = begun().submit(code=code_in(mailoutbox[0]))
    recovered(mailoutbox)
    with_app(User.objects.get())
    with_passkey(left)
    assert (left.user(), left.response.request["PATH_INFO"]) == (None, "/accounts/login/")
    assert [row.type for row in Authenticator.objects.all()] == ["totp"]


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_last_step_of_an_account_that_is_gone_leads_to_the_sign_in(
    method: str, mailoutbox: list[EmailMessage]
) -> None:
    left = begun().submit(code=code_in(mailoutbox[0]))
    User.objects.get().delete()
    left.client.handler.enforce_csrf_checks = False
    answer = left.client.generic(method.upper(), LAST_STEP)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/")


@pytest.mark.parametrize("who", ["has a password", "is staff", "has an app"])
def test_a_mailed_link_takes_no_second_factor_away(who: str, mailoutbox: list[EmailMessage]) -> None:
    user = (
        UserFactory(username="Ada", email="ada@example.org")
        if who == "has a password"
        else passwordless(is_staff=who == "is staff")
    )
    Passkey(user)
    if who == "has an app":
        with_app(user)
    recovered(mailoutbox)
    assert Authenticator.objects.filter(type="totp" if who == "has an app" else "webauthn").exists()
    browser = sign_in("Ada", NEW_PASSWORD)
    assert (browser.user(), browser.response.request["PATH_INFO"]) == (None, "/accounts/2fa/authenticate/")
