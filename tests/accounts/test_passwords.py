"""Passwords at rest, and a new one by mail."""

import re

import pytest
from django.core.mail import EmailMessage
from pytest_django import Settings

from accounts.models import User
from config import settings as written_settings
from tests.factories.accounts import PASSWORD, UserFactory
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

NEW_PASSWORD = "a different horse battery"


def reset_link(mail: EmailMessage) -> str:
    links = re.findall(r"http://\S+(/accounts/password/reset/key/\S+)", str(mail.body))
    assert len(links) == 1, mail.body
    return str(links[0])


def test_a_password_is_stored_as_argon2id_with_production_strength(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = written_settings.PASSWORD_HASHERS
    browser = Browser().open("/accounts/signup/")
    browser.submit(username="Ada", email="ada@example.org", password1=PASSWORD)
    user = User.objects.get()
    assert user.password.startswith("argon2$argon2id$v=19$m=47104,t=1,p=1$")
    assert user.check_password(PASSWORD)
    assert not user.check_password(NEW_PASSWORD)


def test_a_forgotten_password_is_replaced_through_the_link_in_the_mail(mailoutbox: list[EmailMessage]) -> None:
    user = UserFactory(username="Ada", email="ada@example.org")
    browser = Browser().open("/accounts/password/reset/").submit(email="ADA@example.org")
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"]]

    link = reset_link(mailoutbox[0])
    assert user.check_password(PASSWORD)
    browser.open(link).submit(password1=NEW_PASSWORD, password2=NEW_PASSWORD)
    assert "password1" not in Browser().open(link).response.content.decode()  # it works once
    user.refresh_from_db()
    assert user.check_password(NEW_PASSWORD)
    assert Browser().open("/accounts/login/").submit(login="Ada", password=PASSWORD).user() is None
    assert Browser().open("/accounts/login/").submit(login="Ada", password=NEW_PASSWORD).user() == user


def test_asking_for_an_unknown_address_looks_the_same(mailoutbox: list[EmailMessage]) -> None:
    UserFactory(email="ada@example.org")
    chains = [
        Browser().open("/accounts/password/reset/").submit(email=email).response.redirect_chain
        for email in ("ada@example.org", "nobody@example.org")
    ]
    assert chains[0] == chains[1]
    assert User.objects.count() == 1


def test_more_than_5_resets_a_minute_for_one_address_are_refused() -> None:
    UserFactory(email="ada@example.org")
    statuses = [
        Browser().open("/accounts/password/reset/").submit(email="ada@example.org").response.status_code
        for _ in range(6)
    ]
    assert statuses == [200] * 5 + [429]
