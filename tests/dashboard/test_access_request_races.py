"""Concurrent decisions and requests: one decision counts, and one request waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts import bans, users
from accounts.api_keys import keys
from accounts.models import ApiKey, AuditEvent, User
from dashboard import access_requests
from dashboard.models import AccessRequest
from dashboard.staff import actions as staff_actions
from oidc_provider.applications import applications
from oidc_provider.staff_actions import APPLICATION_ACTIONS
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory
from tests.factories.dashboard import AccessRequestFactory, PermissionRequestFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]
THREADS = 3


def done(act: Callable[[], Any]) -> bool:
    """Whether the act was not refused."""
    try:
        act()
    except ValidationError:
        return False
    return True


def test_of_concurrent_decisions_one_counts() -> None:
    asked, staff = AccessRequestFactory(), StaffFactory()
    decisions: list[Callable[[], Any]] = [
        lambda: access_requests.grant(request=asked, by=staff, reason="Yes"),
        lambda: access_requests.deny(request=asked, by=staff, reason="No"),
        lambda: access_requests.withdraw(request=asked, by=asked.user),
    ]
    results = together(THREADS, lambda number: done(decisions[number % 3]))
    assert results.count(True) == 1
    decided = AccessRequest.objects.get()
    assert not decided.is_pending
    unlocked = User.objects.get(pk=asked.user_id).unlocked_scopes
    assert unlocked == (["email"] if decided.state == "GRANTED" else [])
    assert AuditEvent.objects.filter(verb__startswith="access_request:").count() == 1


def test_of_concurrent_equal_requests_one_is_created() -> None:
    user, key = UserFactory(), ApiKeyFactory()
    asks: list[Callable[[], Any]] = [
        lambda: access_requests.ask_for_scope(user=user, scope="email", reason="Please"),
        lambda: access_requests.ask_for_permission(key=key, permission="lookup:user", reason="Please"),
    ]
    results = together(2 * THREADS, lambda number: done(asks[number % 2]))
    assert results.count(True) == 2
    assert AccessRequest.objects.pending().count() == 2


def test_a_grant_beside_a_ban_a_relock_and_a_deletion_neither_fails_nor_hangs() -> None:
    asked, staff = AccessRequestFactory(), StaffFactory()
    ApplicationFactory(user=asked.user, registered_scopes=["openid", "email"])
    first: list[Callable[[], Any]] = [
        lambda: access_requests.grant(request=asked, by=staff, reason="Yes"),
        lambda: applications.relock_scope(owner=asked.user, scope="email", by=staff, reason="No"),
        lambda: bans.ban(user=asked.user, by=staff, reason="No"),
    ]
    together(3, lambda number: done(first[number]))
    asked.refresh_from_db()
    assert asked.state in {"GRANTED", "PENDING"}
    then: list[Callable[[], Any]] = [
        lambda: access_requests.deny(request=asked, by=staff, reason="No"),
        lambda: users.delete(user=asked.user, by=staff),
    ]
    together(2, lambda number: done(then[number]))
    assert not AccessRequest.objects.exists()


def test_a_key_that_is_revoked_at_the_same_time_gets_nothing_afterwards() -> None:
    asked, staff = PermissionRequestFactory(), StaffFactory()
    assert asked.key is not None
    granted, _ = together(
        2,
        lambda number: done(
            [
                lambda: access_requests.grant(request=asked, by=staff, reason="Yes"),
                lambda: keys.revoke(key=ApiKey.objects.get(), by=staff),
            ][number]
        ),
    )
    key = ApiKey.objects.get()
    assert key.revoked_at is not None
    assert key.allows("lookup:user") == granted
    assert AccessRequest.objects.get().is_pending != granted


def test_of_concurrent_suspensions_one_counts_and_the_others_are_refused() -> None:
    app, staff = ApplicationFactory(), StaffFactory()
    (suspend,) = (action for action in APPLICATION_ACTIONS if action.name == "suspend")
    results = together(
        THREADS, lambda number: done(lambda: staff_actions.perform(suspend, app, by=staff, reason=str(number)))
    )
    assert results.count(True) == 1
    assert AuditEvent.objects.get().reason == str(results.index(True))
