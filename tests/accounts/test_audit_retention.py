"""Audit events are kept for ever, or for as many days as the operator says."""

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
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory

pytestmark = pytest.mark.django_db
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
