"""Operations on API keys."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts.api_keys import keys
from accounts.models import ApiKey, AuditEvent, Permission, User
from tests.factories.accounts import ApiKeyFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_an_issued_key_is_found_by_its_secret_which_is_not_stored() -> None:
    owner = UserFactory()
    issued = keys.issue(owner=owner, permissions=["lookup:user", "account"], name="Bot", by=owner)
    assert re.fullmatch(r"ik_[A-Za-z0-9]{8}_[A-Za-z0-9]{40}", issued.secret)
    assert issued.key.prefix == issued.secret[:11]
    assert keys.find(issued.secret) == issued.key
    assert keys.find(issued.secret[:-1]) is None
    stored = ApiKey.objects.values().get()
    assert issued.secret not in str(stored)
    assert stored["permissions"] == ["account", "lookup:user"]
    event = AuditEvent.objects.get()
    assert (event.verb, event.actor, event.object_id) == ("api_key:issued", owner, str(issued.key.pk))
    assert issued.secret not in str(event.data)


def test_finding_a_key_takes_one_query_owner_included(django_assert_num_queries: Any) -> None:
    key = ApiKeyFactory(secret="s")
    with django_assert_num_queries(1):
        found = keys.find("s")
        assert found is not None
        assert found.owner.username == key.owner.username


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"permissions": []}, "permissions"),
        ({"permissions": ["lookup:everything"]}, "permissions"),
        ({"refill_amount": 5}, "refill_amount"),
    ],
)
def test_a_bad_key_is_refused_by_field(arguments: dict[str, Any], field: str) -> None:
    owner = UserFactory()
    with pytest.raises(ValidationError) as refusal:
        keys.issue(**{"owner": owner, "permissions": ["account"], "by": None, **arguments})
    assert list(refusal.value.message_dict) == [field]
    assert not ApiKey.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_key_with_a_quota_that_refills() -> None:
    key = keys.issue(
        owner=UserFactory(),
        permissions=["account"],
        remaining_uses=10,
        refill_amount=10,
        refill_interval=timedelta(days=1),
        by=None,
    ).key
    assert key.refilled_at is not None
    assert AuditEvent.objects.get().actor_kind == AuditEvent.ActorKind.SYSTEM


@pytest.fixture
def key(db: None) -> ApiKey:
    return ApiKeyFactory()


@pytest.fixture
def by(db: None) -> User:
    return UserFactory(is_staff=True)


def test_disable_then_enable(key: ApiKey, by: User) -> None:
    assert not keys.disable(key=key, by=by, reason="Spam").is_enabled
    assert keys.enable(key=key, by=by, reason="Solved").is_enabled
    assert list(AuditEvent.objects.order_by("pk").values_list("verb", "reason", "actor_kind")) == [
        ("api_key:disabled", "Spam", "STAFF"),
        ("api_key:enabled", "Solved", "STAFF"),
    ]


def test_doing_it_twice_records_it_once(key: ApiKey, by: User) -> None:
    for _ in range(2):
        keys.disable(key=key, by=by, reason="Spam")
        keys.revoke(key=key, by=by, reason="Spam")
        keys.grant_permission(key=key, permission="lookup:user", by=by, reason="Asked")
    verbs = AuditEvent.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["api_key:disabled", "api_key:revoked", "api_key:permission_granted"]


def test_a_revoked_key_stays_revoked(key: ApiKey, by: User) -> None:
    keys.revoke(key=key, by=by, reason="Leaked")
    with pytest.raises(ValidationError, match="revoked"):
        keys.enable(key=key, by=by)
    assert ApiKey.objects.get().revoked_at is not None


def test_permissions_are_granted_and_withdrawn(key: ApiKey, by: User) -> None:
    assert keys.grant_permission(key=key, permission="lookup:user", by=by).permissions == ["account", "lookup:user"]
    assert keys.withdraw_permission(key=key, permission="account", by=by).permissions == ["lookup:user"]
    with pytest.raises(ValidationError):
        keys.grant_permission(key=key, permission="root", by=by)
    assert ApiKey.objects.get().permissions == [Permission.LOOKUP_USER]
