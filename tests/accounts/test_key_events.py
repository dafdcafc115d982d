"""What the webhooks of a person hear of their keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from accounts import credentials
from accounts.api_keys import keys
from accounts.models import ApiKey, User, WebhookDelivery, WebhookEndpoint
from tests.dashboard.api_keys.pages import path_of
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory, WebhookEndpointFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support.outbox import posted

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def user() -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def boss() -> User:
    return StaffFactory(username="Boss")


@pytest.fixture
def key(user: User) -> ApiKey:
    return ApiKeyFactory(owner=user, name="Laptop", prefix="ik_12345678")


@pytest.fixture
def endpoint(user: User) -> WebhookEndpoint:
    return WebhookEndpointFactory(user=user)


def _revoked_on_its_page(key: ApiKey, owner: User, boss: User) -> None:
    client_of(browser_of(owner)).post(path_of(key, "revoke"))


# The act, its reason, and who acted.
ACTS: dict[str, tuple[Callable[[ApiKey, User, User], object], str, str]] = {
    "revoked on its page": (_revoked_on_its_page, "revoked", "owner"),
    "revoked by staff": (lambda key, _, boss: keys.revoke(key=key, by=boss, reason="Leaked"), "revoked", "staff"),
    "revoked by the service": (lambda key, *_: keys.revoke(key=key, by=None), "revoked", "staff"),
    "disabled by its owner": (lambda key, owner, _: keys.disable(key=key, by=owner), "disabled", "owner"),
    "disabled by staff": (lambda key, _, boss: keys.disable(key=key, by=boss, reason="Abuse"), "disabled", "staff"),
    "replaced at once": (lambda key, owner, _: keys.rotate(key=key, overlap=0 * HOUR, by=owner), "replaced", "owner"),
    "all access ended": (lambda _, owner, __: credentials.end_access(user=owner, by=owner), "revoked", "owner"),
}


@pytest.mark.parametrize("name", ACTS)
def test_a_key_that_stops_working_is_told_without_its_secret(
    key: ApiKey, user: User, boss: User, endpoint: WebhookEndpoint, name: str
) -> None:
    act, reason, by = ACTS[name]
    others = [
        WebhookEndpointFactory(user=UserFactory()),
        WebhookEndpointFactory(user=user, events=["key.expiring"]),
        WebhookEndpointFactory(user=user, disabled_at=timezone.now(), disabled_by="OWNER"),
        WebhookEndpointFactory(application=ApplicationFactory(user=user)),
    ]
    act(key, user, boss)
    data = {"prefix": "ik_12345678", "name": "Laptop", "reason": reason, "by": by}
    assert posted(endpoint) == [("key.disabled", user.pk, data)]
    assert [posted(other) for other in others] == [[], [], [], []]


SILENT: dict[str, Callable[[ApiKey, User], object]] = {
    "disabled": lambda key, owner: keys.disable(key=key, by=owner),
    "revoked": lambda key, owner: keys.revoke(key=key, by=owner),
    "expired": lambda key, _: ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() - DAY),
}


@pytest.mark.parametrize("name", SILENT)
def test_a_key_that_works_no_more_is_not_told_again(key: ApiKey, user: User, boss: User, name: str) -> None:
    SILENT[name](key, user)
    endpoint = WebhookEndpointFactory(user=user)
    keys.disable(key=key, by=boss)
    keys.revoke(key=key, by=boss)
    keys.delete(key=key, by=user)
    assert posted(endpoint) == []


def test_changes_after_which_it_works_are_no_news(key: ApiKey, user: User, endpoint: WebhookEndpoint) -> None:
    keys.rename(key=key, name="Desktop", by=user)
    keys.change_end(key=key, expires_at=timezone.now() + DAY, by=user)
    keys.rotate(key=key, overlap=HOUR, by=user)
    assert posted(endpoint) == []


def test_what_is_rolled_back_tells_nothing(key: ApiKey, user: User, endpoint: WebhookEndpoint) -> None:
    with suppress(ZeroDivisionError), transaction.atomic():
        keys.revoke(key=key, by=user)
        assert posted(endpoint)
        raise ZeroDivisionError
    assert posted(endpoint) == []


def test_the_daily_job_tells_once_of_a_key_that_ends_within_a_week(
    key: ApiKey, user: User, endpoint: WebhookEndpoint
) -> None:
    ends = datetime.now(UTC).replace(microsecond=0) + 3 * DAY
    ApiKey.objects.filter(pk=key.pk).update(expires_at=ends)
    ApiKeyFactory(owner=user, expires_at=ends + 30 * DAY)
    banned = UserFactory(is_active=False, banned_at=timezone.now())
    WebhookEndpointFactory(user=banned)
    ApiKeyFactory(owner=banned, expires_at=ends)
    for _ in range(2):
        call_command("remind_of_keys")
    about = {"prefix": "ik_12345678", "name": "Laptop", "expires_at": f"{ends:%Y-%m-%dT%H:%M:%S}.000Z"}
    assert posted(endpoint) == [("key.expiring", user.pk, about)]
    assert WebhookDelivery.objects.count() == 1


@pytest.mark.parametrize(("has_endpoint", "more"), [(False, 1), (True, 2)])
def test_it_costs_one_statement_and_one_more_with_a_webhook(
    key: ApiKey, user: User, django_assert_num_queries: Any, has_endpoint: bool, more: int
) -> None:
    if has_endpoint:
        WebhookEndpointFactory(user=user)
    with django_assert_num_queries(5 + more):  # a savepoint, the key, its change, the audit row, the savepoint's end
        keys.revoke(key=key, by=user)
