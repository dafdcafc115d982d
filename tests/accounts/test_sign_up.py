"""Signing up: name, email address, code."""

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client

from accounts.models import Name, User
from tests.factories.accounts import PASSWORD, UserFactory
from tests.support.browser import Browser
from tests.support.threads import together

ADA = {"username": "Ada", "email": "ada@example.org", "password1": PASSWORD}
ACTIVATE = "/accounts/2fa/totp/activate/"


def sign_up(**changes: str) -> Browser:
    return Browser().open("/accounts/signup/").submit(**{**ADA, **changes})


def code_in(mail: EmailMessage) -> str:
    codes = re.findall(r"^\s*([A-Z0-9]{4}-[A-Z0-9]{4})\s*$", str(mail.body), re.MULTILINE)
    assert len(codes) == 1, mail.body
    return str(codes[0])


@pytest.mark.django_db
def test_a_person_signs_up_confirms_the_address_by_code_and_is_signed_in(mailoutbox: list[EmailMessage]) -> None:
    browser = sign_up()
    assert browser.user() is None
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"]]
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("ada@example.org", False)]

    browser.submit(code=code_in(mailoutbox[0]))
    user = User.objects.get()
    assert browser.user() == user
    assert (user.uid, user.username, user.email) == (0, "Ada", "ada@example.org")
    assert list(EmailAddress.objects.values_list("email", "verified", "primary")) == [("ada@example.org", True, True)]


@pytest.mark.django_db
@pytest.mark.parametrize(("minutes", "path"), [(4, ACTIVATE), (5, "/accounts/reauthenticate/")])
def test_the_password_of_a_new_account_is_not_asked_again_at_once(
    mailoutbox: list[EmailMessage], minutes: int, path: str
) -> None:
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        browser = sign_up()
        browser.submit(code=code_in(mailoutbox[0]))
        clock.shift(timedelta(minutes=minutes))
        assert browser.open(ACTIVATE).response.request["PATH_INFO"] == path


@pytest.mark.django_db
def test_the_third_wrong_code_ends_the_attempt(mailoutbox: list[EmailMessage]) -> None:
    browser = sign_up()
    for _ in range(3):
        browser.submit(code="ZZZZZZ")
        assert not EmailAddress.objects.get().verified
    assert browser.response.request["PATH_INFO"] == "/accounts/login/"
    browser.open("/accounts/confirm-email/")
    assert browser.response.request["PATH_INFO"] != "/accounts/confirm-email/"
    assert not EmailAddress.objects.get().verified


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "messages"),
    [
        ({"username": "ada"}, ["This name is already taken."]),
        ({"email": "nobody"}, ["Enter a valid email address."]),
        ({"email": '"ada"@example.org'}, ["Write the address without quotation marks."]),
        ({"password1": "1234"}, ["This password is too short. It must contain at least 8 characters."]),
        ({"password1": "password123"}, ["This password is too common."]),
        ({"password1": "Grace-Hopper"}, ["The password is too similar to the username."]),
    ],
)
def test_a_sign_up_that_breaks_a_rule_says_which(changes: dict[str, str], messages: list[str]) -> None:
    UserFactory(username="Ada", email="first@example.org")
    browser = sign_up(**{"username": "Grace-Hopper", **changes})
    assert browser.response.status_code == 200
    assert browser.errors()[: len(messages)] == messages
    assert User.objects.count() == 1


@pytest.mark.parametrize("path", ["/accounts/signup/", "/accounts/signup/passkey/"])
def test_the_form_says_what_a_username_may_hold_before_one_is_refused(path: str) -> None:
    page = Client().get(path).content.decode()
    assert "1 to 32 letters, digits, dots, hyphens or underscores. It is the address of your page." in page


@pytest.mark.django_db
def test_a_sign_up_with_a_known_address_looks_like_any_other_and_mails_its_owner(
    mailoutbox: list[EmailMessage],
) -> None:
    first = sign_up()
    UserFactory(username="Grace", email="grace@example.org")
    second = sign_up(username="Other", email="grace@example.org")
    assert second.response.redirect_chain == first.response.redirect_chain
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"], ["grace@example.org"]]
    assert "code" not in str(mailoutbox[1].body).lower().replace("codes", "")
    assert sorted(User.objects.values_list("username", flat=True)) == ["Ada", "Grace"]


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_of_sign_ups_that_race_for_one_name_one_wins_and_the_others_get_the_form_error() -> None:
    """Every one of them finds the name free first, and then they all take it."""
    both_looked = threading.Barrier(4, timeout=30)

    def race(number: int) -> Any:
        wait_once = iter([both_looked.wait])

        def look_together(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            result = execute(sql, params, many, context)
            if 'FROM "accounts_name"' in sql:
                next(wait_once, lambda: None)()
            return result

        with connection.execute_wrapper(look_together):
            form = {**ADA, "username": ["Ada", "ada", "ADA", "aDa"][number], "email": f"ada{number}@example.org"}
            response = Client().post("/accounts/signup/", form)
        assert list(wait_once) == []  # it looked
        return response

    responses = together(4, race)
    assert sorted(response.status_code for response in responses) == [200, 200, 200, 302]
    for response in responses:
        if response.status_code == 200:
            assert response.context["form"].errors == {"username": ["This name is already taken."]}
    assert [user.uid for user in User.objects.all()] == [0]
    assert Name.objects.count() == EmailAddress.objects.count() == 1


@pytest.mark.django_db
def test_more_than_20_sign_ups_a_minute_from_one_address_are_refused() -> None:
    client = Client()
    statuses = [client.post("/accounts/signup/", {}).status_code for _ in range(21)]
    assert statuses == [200] * 20 + [429]
    assert Client(REMOTE_ADDR="198.51.100.7").post("/accounts/signup/", {}).status_code == 200
