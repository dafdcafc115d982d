"""Hosts of their own for each kind of URL, two keys, and a user who has everything.

Imports of models stand inside the fixtures: pytest may load this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pytest_django import Settings

if TYPE_CHECKING:
    from accounts.models import User
    from tests.lookup.filled import Filled


@pytest.fixture
def hosts(settings: Settings) -> None:
    """Each kind of URL has a host of its own, so that none can stand in for another."""
    from tests.lookup import filled

    settings.BASE_URL = filled.BASE
    settings.UPLOAD_CDN_URL = filled.CDN
    settings.ASSET_URL = filled.ART


@pytest.fixture
def unlimited(settings: Settings) -> None:
    """For tests that ask more often in a minute than anybody may."""
    settings.RATE_LIMITS_ENABLED = False


@pytest.fixture
def operator(db: None, hosts: None) -> User:
    """The first account of the service, whose uid is 0. Both keys are theirs."""
    from accounts.models import Permission
    from tests.factories.accounts import ApiKeyFactory, UserFactory
    from tests.lookup.answers import ACCOUNT_SECRET, LOOKUP_SECRET
    from tests.lookup.filled import OPERATOR

    operator = UserFactory(id=OPERATOR, username="Opal", plan="PREMIUM")
    ApiKeyFactory(owner=operator, secret=LOOKUP_SECRET, permissions=[Permission.LOOKUP_USER.value])
    ApiKeyFactory(owner=operator, secret=ACCOUNT_SECRET, permissions=[Permission.ACCOUNT.value])
    assert operator.uid == 0
    return operator


@pytest.fixture
def bare(operator: User) -> User:
    """A user of yesterday, who has filled in nothing."""
    from tests.factories.accounts import UserFactory
    from tests.lookup.filled import BARE, MOMENT

    return UserFactory(id=BARE, username="Bare", created_at=MOMENT)


@pytest.fixture
def filled(operator: User) -> Filled:
    """Ada, of whom every field of the documents is filled at least once."""
    from tests.lookup.filled import fill

    return fill(operator)
