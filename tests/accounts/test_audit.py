"""The audit trail is only ever added to; events are kept for ever, or for as many days as the operator says."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts import audit
from accounts.api_keys import keys
from accounts.models import AuditEvent
from infrastructure.databases import batches
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory

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


DAY = timedelta(days=1)


def add(verb: str, *, days_ago: float) -> None:
    made = audit.event(verb, by=None, on=UserFactory())
    made.created_at = timezone.now() - days_ago * DAY
    made.save(force_insert=True)


def verbs() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("verb", flat=True))


def test_without_the_setting_events_stay_for_ever(settings: Settings) -> None:
    assert not settings.AUDIT_RETENTION
    add("a:old", days_ago=20_000)
    assert audit.delete_past_use(timezone.now()) == 0
    assert verbs() == ["a:old"]


def test_the_job_deletes_what_is_older(settings: Settings, clock: time_machine.Traveller) -> None:
    settings.AUDIT_RETENTION = 30 * DAY
    add("a:old", days_ago=30.001)
    add("a:young", days_ago=30)
    call_command("delete_expired", stdout=io.StringIO())
    assert verbs() == ["a:young"]


def test_it_goes_in_batches_oldest_first(settings: Settings, monkeypatch: Any) -> None:
    settings.AUDIT_RETENTION = 30 * DAY
    monkeypatch.setattr(batches, "SIZE", 2)
    for number in range(5):
        add(f"a:{number}", days_ago=40 + number)
    left = []
    with CaptureQueriesContext(connection) as queries:
        assert audit.delete_past_use(timezone.now(), after_batch=lambda: left.append(verbs())) == 5
    assert left == [["a:0", "a:1", "a:2"], ["a:0"], []]
    reads = [query["sql"] for query in queries if "LIMIT 2" in query["sql"]]
    assert len(reads) == 3


def test_a_key_that_staff_disabled_stays_theirs(settings: Settings) -> None:
    settings.AUDIT_RETENTION = 30 * DAY
    key = ApiKeyFactory()
    with time_machine.travel(timezone.now() - 60 * DAY):
        keys.disable(key=key, by=StaffFactory(), reason="Abuse")
    add("a:old", days_ago=60)
    assert audit.delete_past_use(timezone.now()) == 1
    key.refresh_from_db()
    assert keys.is_disabled_by_others(key)
