"""Notes are bounded in memory, written in batches, all counted, and never break a request."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import NoReturn

import pytest
import time_machine
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from oidc_provider.log import request_log
from oidc_provider.models import LastUse, RequestKind, RequestRecord, UsageCount
from tests.accounts.clock import NOON
from tests.factories.accounts import UserFactory
from tests.oidc_provider.protocol import App

pytestmark = pytest.mark.django_db


def note(client_id: str, *, kind: RequestKind = RequestKind.CODE, user: User | None = None, error: str = "") -> None:
    with request_log.noting(kind) as noted:
        request_log.about(client_id=client_id, user_id=user.pk if user else "")
        if error:
            noted.fails(error, "It failed.")


def counts() -> dict[tuple[str, str], int]:
    return {(row.kind, row.outcome): row.count for row in UsageCount.objects.all()}


@pytest.mark.embedded
def test_counts_add_up_over_batches_hour_by_hour(app: App, clock: time_machine.Traveller) -> None:
    for _ in range(2):
        note(app.application.client_id)
        note(app.application.client_id)
        note(app.application.client_id, error="invalid_grant")
        request_log.buffer.write()
    assert counts() == {("CODE", "ok"): 4, ("CODE", "invalid_grant"): 2}
    assert {row.hour for row in UsageCount.objects.all()} == {NOON}
    clock.shift(timedelta(hours=1))
    note(app.application.client_id)
    request_log.buffer.write()
    assert [row.count for row in UsageCount.objects.filter(outcome="ok").order_by("hour")] == [4, 1]


@pytest.mark.embedded
@pytest.mark.parametrize("number", [1, 10])
def test_a_batch_costs_the_same_for_one_note_and_for_ten(app: App, user: User, number: int) -> None:
    for _ in range(number):
        note(app.application.client_id, user=user)
    with CaptureQueriesContext(connection) as captured:
        request_log.buffer.write()
    statements = [query["sql"].split()[0] for query in captured.captured_queries]
    assert [word for word in statements if word not in {"SAVEPOINT", "RELEASE"}] == [
        "SELECT",  # the people
        "SELECT",  # the apps
        "INSERT",  # the records
        "INSERT",  # the counts
        "INSERT",  # the last uses
    ]


def test_of_one_app_a_batch_stores_the_newest_records_and_counts_them_all(
    app: App, other_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "MOST_RECORDS", 3)
    note(other_app.application.client_id)
    for number in range(5):
        note(app.application.client_id, error=f"error_{number}")
    request_log.buffer.write()
    stored = app.application.request_records.values_list("outcome", flat=True)
    assert list(stored.order_by("pk")) == ["error_2", "error_3", "error_4"]
    assert sum(row.count for row in app.application.usage_counts.all()) == 5
    assert other_app.application.request_records.count() == 1


def test_of_many_successes_of_an_app_a_batch_stores_the_newest_and_every_failure(
    app: App, other_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "MOST_SUCCESSES", 2)
    note(other_app.application.client_id)
    for error in ("", "first", "", "", "last"):
        note(app.application.client_id, error=error)
    request_log.buffer.write()
    assert other_app.application.request_records.count() == 1
    stored = app.application.request_records.order_by("pk").values_list("outcome", flat=True)
    assert list(stored) == ["first", "ok", "ok", "last"]
    assert sum(row.count for row in app.application.usage_counts.all()) == 5


def test_an_app_or_a_person_that_is_gone_breaks_no_batch(app: App, other_app: App, user: User) -> None:
    gone = UserFactory()
    note(other_app.application.client_id, user=user)
    note(app.application.client_id, user=gone)
    other_app.application.delete()
    gone.delete()
    request_log.buffer.write()
    (row,) = RequestRecord.objects.all()
    assert (row.application, row.user) == (app.application, None)


def broken_by(error: DatabaseError) -> contextlib.AbstractContextManager[None]:
    """Context manager: every statement raises `error`."""

    def fail(*call: object) -> NoReturn:
        raise error

    return connection.execute_wrapper(fail)


@pytest.mark.embedded
def test_a_database_that_is_away_costs_no_note(app: App, user: User, caplog: pytest.LogCaptureFixture) -> None:
    note(app.application.client_id, user=user)
    with broken_by(OperationalError("gone")):
        request_log.buffer.write()
    assert "could not be written yet" in caplog.text
    request_log.buffer.write()
    assert (RequestRecord.objects.count(), LastUse.objects.count()) == (1, 1)


def test_hostile_descriptions_are_stored_harmless_and_short(app: App) -> None:
    with request_log.noting(RequestKind.ASKED) as noted:
        noted.client_id = app.application.client_id
        noted.fails("invalid_request", "a\x00b\nc" + "d" * 5_000)
        noted.redirect_uri = "https://[broken"
    request_log.buffer.write()
    (row,) = RequestRecord.objects.all()
    assert row.description.startswith("a?b?cd")
    assert (len(row.description), row.redirect_uri) == (300, "")


def test_a_view_that_breaks_is_a_server_error(app: App) -> None:
    with pytest.raises(ZeroDivisionError), request_log.noting(RequestKind.CODE) as noted:
        noted.client_id = app.application.client_id
        raise ZeroDivisionError
    request_log.buffer.write()
    assert RequestRecord.objects.get().outcome == "server_error"


def test_outside_a_request_nothing_is_noted(app: App) -> None:
    request_log.about(client_id=app.application.client_id)
    request_log.failed("invalid_request", "Outside a request.")
    request_log.buffer.write()
    assert request_log.request_id() == ""
    assert not RequestRecord.objects.exists()


def test_the_last_use_of_a_person_moves_on_with_each_sign_in(
    app: App, user: User, clock: time_machine.Traveller
) -> None:
    note(app.application.client_id, user=user)
    request_log.buffer.write()
    clock.shift(timedelta(hours=3))
    note(app.application.client_id, user=user, error="invalid_grant")  # is no use
    request_log.buffer.write()
    assert LastUse.objects.get().used_at == NOON
    note(app.application.client_id, kind=RequestKind.REFRESH, user=user)
    request_log.buffer.write()
    assert LastUse.objects.get().used_at == NOON + timedelta(hours=3)


def test_a_last_use_is_stored_once_in_five_minutes(app: App, user: User, clock: time_machine.Traveller) -> None:
    used_at = []
    for _ in range(4):
        note(app.application.client_id, user=user)
        request_log.buffer.write()
        used_at.append(LastUse.objects.get().used_at)
        clock.shift(timedelta(minutes=2, seconds=30))
    later = NOON + timedelta(minutes=5)
    assert used_at == [NOON, NOON, later, later]


def test_the_job_deletes_records_after_a_week_and_counts_after_ninety_days(
    app: App, user: User, clock: time_machine.Traveller
) -> None:
    note(app.application.client_id, user=user)
    request_log.buffer.write()
    clock.shift(timedelta(days=7))
    assert request_log.delete_past_use(timezone.now()) == 0
    clock.shift(timedelta(seconds=1))
    assert request_log.delete_past_use(timezone.now()) == 1
    clock.move_to(NOON + timedelta(days=90, seconds=1))
    assert request_log.delete_past_use(timezone.now()) == 2
    assert not RequestRecord.objects.exists()
    assert not UsageCount.objects.exists()
    assert not LastUse.objects.exists()


def test_the_job_leaves_each_app_its_newest_records(
    app: App, other_app: App, monkeypatch: pytest.MonkeyPatch, clock: time_machine.Traveller
) -> None:
    monkeypatch.setattr(request_log, "MOST_RECORDS_KEPT", 2)
    note(other_app.application.client_id)
    for number in range(4):
        clock.shift(timedelta(seconds=1))
        note(app.application.client_id, error=f"error_{number}")
    request_log.buffer.write()
    assert request_log.delete_past_use(timezone.now()) == 2
    assert list(app.application.request_records.newest_first().values_list("outcome", flat=True)) == [
        "error_3",
        "error_2",
    ]
    assert other_app.application.request_records.count() == 1


@pytest.mark.parametrize("count", [0, 2])
def test_the_database_holds_one_count_that_is_some_for_each_hour_kind_and_outcome(app: App, count: int) -> None:
    fields = {"application": app.application, "hour": NOON, "kind": "CODE", "outcome": "ok"}
    UsageCount.objects.create(count=1, **fields)
    if count == 0:
        fields["outcome"] = "other"
    with pytest.raises(IntegrityError), transaction.atomic():
        UsageCount.objects.create(count=count, **fields)


def test_a_person_has_one_last_use_of_an_app(app: App, user: User) -> None:
    LastUse.objects.create(application=app.application, user=user, used_at=NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        LastUse.objects.create(application=app.application, user=user, used_at=NOON)


def test_a_note_costs_its_request_no_query(app: App) -> None:
    with CaptureQueriesContext(connection) as captured:
        note(app.application.client_id)
    assert captured.captured_queries == []
