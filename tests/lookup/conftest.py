"""Hosts of their own for each kind of URL, two keys, and a user who has everything.

Imports of models stand inside the fixtures: pytest may load this file before Django is set up.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pytest_django import Settings

from tests.support import redis_commands

if TYPE_CHECKING:
    from accounts.models import User
    from tests.lookup.filled import Filled


@pytest.fixture
def hosts(settings: Settings) -> None:
    """Each kind of URL has a host of its own, so that a test notices mixed-up URLs."""
    from tests.lookup import filled

    for name, url in filled.HOSTS.items():
        setattr(settings, name, url)


@pytest.fixture
def unlimited(settings: Settings) -> None:
    """For tests that send more requests in a minute than the limits allow."""
    settings.RATE_LIMITS_ENABLED = False


@pytest.fixture
def operator(db: None, hosts: None) -> User:
    """The first account of the service, whose uid is 0. Both keys are theirs."""
    from accounts.models import User
    from tests.lookup import filled

    return User.objects.filter(pk=filled.OPERATOR).first() or filled.make_operator()


@pytest.fixture
def bare(operator: User) -> User:
    """A user of yesterday, who has filled in nothing."""
    from tests.factories.accounts import UserFactory
    from tests.lookup.filled import BARE, MOMENT

    return UserFactory(id=BARE, username="Bare", created_at=MOMENT)


@pytest.fixture(scope="module")
def everybody(module_db: None) -> Iterator[Filled]:
    """Ada, of whom every field of the documents is filled at least once, and the people around her."""
    from django.test import override_settings

    from tests.lookup import filled

    with override_settings(**filled.HOSTS):
        yield filled.fill(filled.make_operator())


@pytest.fixture
def filled(everybody: Filled, db: None, hosts: None) -> Filled:
    """Everybody, as objects that the test may change; what it writes is rolled back."""
    return copy.deepcopy(everybody)


@pytest.fixture(name="redis_commands")
def sent_commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that Redis gets."""
    return redis_commands.noted(monkeypatch)
