"""What must be true of requests is held by the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.models import AccessRequest
from tests.factories.accounts import ApiKeyFactory
from tests.factories.dashboard import AccessRequestFactory, PermissionRequestFactory

pytestmark = pytest.mark.django_db
# SQLite names the columns of a unique index where PostgreSQL names the index.
CONSTRAINTS: list[tuple[str, str, Callable[[], Any]]] = [
    (
        "access_request_one_for_each_scope",
        "user_id, dashboard_accessrequest.subject",
        lambda: AccessRequestFactory(user=AccessRequestFactory().user),
    ),
    (
        "access_request_one_for_each_permission",
        "key_id, dashboard_accessrequest.subject",
        lambda: PermissionRequestFactory(key=(first := PermissionRequestFactory()).key, user=first.user),
    ),
    ("access_request_key_goes_with_permission", "a scope", lambda: AccessRequestFactory(key=ApiKeyFactory())),
    ("access_request_key_goes_with_permission", "no key", lambda: PermissionRequestFactory(key=None)),
    ("access_request_key_goes_with_permission", "kind", lambda: AccessRequestFactory(kind="NONSENSE")),
    (
        "access_request_state_is_known",
        "state",
        lambda: AccessRequestFactory(state="NONSENSE", decided_at=timezone.now()),
    ),
    ("access_request_decided_at_a_moment", "granted", lambda: AccessRequestFactory(state="GRANTED")),
    ("access_request_decided_at_a_moment", "waits", lambda: AccessRequestFactory(decided_at=timezone.now())),
]


@pytest.mark.parametrize(
    ("name", "columns", "insert"), CONSTRAINTS, ids=[f"{name}-{what}" for name, what, _ in CONSTRAINTS]
)
def test_the_database_refuses(name: str, columns: str, insert: Callable[[], Any]) -> None:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        insert()
    assert name in str(caught.value) or columns in str(caught.value)


def test_every_constraint_is_provoked_here() -> None:
    names = {constraint.name for constraint in AccessRequest._meta.constraints}
    assert names == {name for name, _, _ in CONSTRAINTS}
