"""The audit trail is only ever added to."""

from typing import Any

import pytest

from accounts import audit
from accounts.models import AuditEvent
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext
from tests.factories.accounts import StaffFactory, UserFactory

pytestmark = pytest.mark.django_db


def columns_of(event: AuditEvent) -> dict[str, Any]:
    """Every column but the id and the time."""
    return {
        field.attname: getattr(event, field.attname)
        for field in AuditEvent._meta.concrete_fields
        if field.name not in {"id", "created_at"}
    }


def test_an_event_holds_actor_act_object_and_reason() -> None:
    staff, user = StaffFactory(username="Grace"), UserFactory(username="Ada")
    token = request_context.current.set(RequestContext(address="192.0.2.1"))
    try:
        audit.record("user:renamed", by=staff, on=user, reason="on request", old="Countess")
    finally:
        request_context.current.reset(token)
    assert columns_of(AuditEvent.objects.get()) == {
        "actor_id": staff.pk,
        "actor_name": "Grace",
        "actor_kind": "STAFF",
        "verb": "user:renamed",
        "object_type": "accounts.user",
        "object_id": user.pk,
        "object_name": "Ada",
        "reason": "on request",
        "data": {"old": "Countess"},
        "address": "192.0.2.1",
    }


def test_the_kind_of_actor_is_user_staff_or_system() -> None:
    user, staff = UserFactory(), StaffFactory()
    kinds = [audit.record("thing:done", by=by, on=user).actor_kind for by in (user, staff, None)]
    assert kinds == ["USER", "STAFF", "SYSTEM"]
    event = AuditEvent.objects.order_by("pk").last()
    assert event is not None
    assert (event.actor_id, event.actor_name, event.address) == (None, "", "")


@pytest.mark.parametrize("by_row", [True, False])
def test_an_event_cannot_be_changed_or_deleted(by_row: bool) -> None:
    event = audit.record("thing:done", by=None, on=UserFactory())
    with pytest.raises(TypeError, match="never changed"):
        if by_row:
            event.verb = "thing:undone"
            event.save()
        else:
            AuditEvent.objects.update(verb="thing:undone")
    with pytest.raises(TypeError, match="never deleted"):
        (event if by_row else AuditEvent.objects.all()).delete()
    assert AuditEvent.objects.get().verb == "thing:done"


def test_an_event_outlives_the_account_of_its_actor_and_keeps_its_name() -> None:
    user = UserFactory(username="Ada")
    audit.record("thing:done", by=user, on=user)
    user.delete()
    event = AuditEvent.objects.get()
    assert (event.actor, event.actor_name) == (None, "Ada")
