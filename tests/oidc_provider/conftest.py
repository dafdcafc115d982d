"""An app, a signed-in user, and a frozen clock.

Fixtures import models themselves, because pytest may load this file before Django is set up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.test import Client

from tests.accounts.clock import NOON

if TYPE_CHECKING:
    from accounts.models import User
    from oidc_provider.models import Application, SigningKey, Team
    from tests.oidc_provider.protocol import App


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def signing_key(db: None) -> SigningKey:
    from oidc_provider.token import signing

    return signing.ensure_signing_key()


@pytest.fixture
def user(db: None) -> User:
    from tests.factories.accounts import UserFactory

    return UserFactory(username="Ada", email="ada@example.org", display_name="Ada Example")


@pytest.fixture
def other_user(db: None) -> User:
    from tests.factories.accounts import UserFactory

    return UserFactory(username="Ben", email="ben@example.org")


@pytest.fixture
def application(signing_key: SigningKey) -> Application:
    from tests.factories.oidc_provider import ApplicationFactory

    return ApplicationFactory(name="Notebook")


@pytest.fixture
def app(application: Application) -> App:
    from tests.oidc_provider.protocol import App

    return App(application)


@pytest.fixture
def other_app(signing_key: SigningKey) -> App:
    from tests.factories.oidc_provider import ApplicationFactory
    from tests.oidc_provider.protocol import App

    secret = "the-secret-of-the-other-app-of-the-tests-43ch"
    return App(ApplicationFactory(name="Other", secret=secret), secret)


@pytest.fixture
def browser(user: User) -> Client:
    """Ada's browser, signed in."""
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.fixture
def other_browser(other_user: User) -> Client:
    """Ben's browser, signed in."""
    browser = Client()
    browser.force_login(other_user)
    return browser


@pytest.fixture
def owner(db: None) -> User:
    from tests.factories.accounts import UserFactory

    return UserFactory.create(username="Olga")


@pytest.fixture
def team(owner: User) -> Team:
    from oidc_provider.applications import teams

    return teams.create(name="Harbour", by=owner)
