"""The delivery of webhooks: each message at least once, in order, at its time, and what an answer means."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings
from standardwebhooks import Webhook

from accounts.models import AuditEvent, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import attempts, claims, delivering, endpoints
from tests.accounts.clock import NOON
from tests.accounts.webhook_workers import deliver, endpoint_at, fresh, posted, taken, working
from tests.factories.accounts import UserFactory
from tests.support.threads import together
from tests.support.webhook_receiver import Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
GONE, FAILING = WebhookEndpoint.Disabled.GONE, WebhookEndpoint.Disabled.FAILING


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True


# --- Each message, at least once ---


def test_a_message_is_delivered_once_and_its_row_says_how(receiver: Receiver) -> None:
    receiver.body = "thank\x00 \u202eyou\n".encode() + b"\xff"
    posted(endpoint_at(receiver))
    assert (deliver(), deliver()) == (1, 0)
    (request,) = receiver.requests
    row = WebhookDelivery.objects.get()
    assert (request.id, request.status) == (row.message_id, 200)
    assert request.content["type"] == "file.expired"
    assert request.content["data"] == {"number": 0}
    assert (row.attempts, row.due_at, row.claimed_until, row.last_status) == (1, None, None, 200)
    assert row.last_answer == "thank you\n\N{REPLACEMENT CHARACTER}"
    assert row.delivered_at == row.last_at


def test_workers_deliver_each_message_of_many_once(receiver: Receiver) -> None:
    for _ in range(10):
        posted(endpoint_at(receiver), count=20)
    with working(2):
        receiver.wait_for(200)
    assert len(set(receiver.ids())) == len(receiver.ids()) == 200


def test_claims_of_several_workers_are_disjoint_and_hold_no_more_than_four_of_an_endpoint(receiver: Receiver) -> None:
    made = [endpoint_at(receiver) for _ in range(3)]
    for endpoint in made:
        posted(endpoint, count=10)
    found = [delivery for share in together(4, lambda _: taken()) for delivery in share]
    found += taken() + taken()  # what the others left, as each endpoint was locked by one
    assert len({delivery.pk for delivery in found}) == len(found)
    assert sorted(delivery.endpoint_id or 0 for delivery in found) == sorted(
        endpoint.pk for endpoint in made for _ in range(claims.AT_ONCE)
    )
    assert taken() == []


def test_an_endpoint_gets_no_fifth_request_while_others_are_under_way(receiver: Receiver) -> None:
    posted(endpoint_at(receiver), count=10)
    first = taken(room=3)
    assert [len(first), len(taken()), len(taken())] == [3, 1, 0]
    attempts.record([attempts.sent(delivery, None) for delivery in first[:2]])
    assert [len(taken()), len(taken())] == [2, 0]


def test_a_message_whose_worker_was_killed_before_the_record_is_sent_again_with_its_id(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    posted(endpoint_at(receiver))
    (delivery,) = taken()
    attempts.sent(delivery, None)  # and then the process is gone
    assert deliver() == 0
    clock.shift(claims.CLAIM)
    assert deliver() == 1
    first, second = receiver.requests
    assert (first.id, first.body) == (second.id, second.body)
    assert WebhookDelivery.objects.get().attempts == 1


def test_a_worker_that_ends_late_gives_back_nothing_that_another_one_has_claimed(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    posted(endpoint_at(receiver))
    late = taken()
    clock.shift(claims.CLAIM)
    (claimed,) = taken()
    claims.give_back(late)
    row = WebhookDelivery.objects.get()
    assert (row.due_at, row.claimed_until) == (claimed.due_at, claimed.claimed_until)
    assert taken() == []


def test_what_is_under_way_at_the_end_is_given_back_and_recorded_where_it_is_quick(receiver: Receiver) -> None:
    posted(endpoint_at(receiver), count=3)
    receiver.seconds = 30
    with working(patience=0.1):
        receiver.wait_until(lambda: WebhookDelivery.objects.filter(claimed_until__isnull=False).count() == 3)
    rows = WebhookDelivery.objects.waiting()
    assert [(row.attempts, row.claimed_until, row.due_at is not None) for row in rows] == [(0, None, True)] * 3
    assert len(taken()) == 3


def test_an_error_of_the_database_loses_no_result(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    record, errors = attempts.record, [OperationalError("the connection was closed")]

    def stumbling(results: Any) -> None:
        if errors:
            raise errors.pop()
        record(results)

    monkeypatch.setattr(attempts, "record", stumbling)
    monkeypatch.setattr(delivering, "AFTER_ERROR_SECONDS", 0.01)
    posted(endpoint_at(receiver))
    with working():
        receiver.wait_until(lambda: WebhookDelivery.objects.filter(delivered_at__isnull=False).exists())
    assert len(receiver.requests) == 1
    assert caplog.messages == ["The worker for deliveries failed"]


def test_a_fault_of_one_attempt_is_a_failure_and_not_the_end_of_the_worker(
    receiver: Receiver, settings: Settings
) -> None:
    lost = endpoint_at(receiver)
    good = settings.SIGNING_KEY_ENCRYPTION_KEYS
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["of another host"]
    posted(endpoint_at(receiver))
    posted(lost)
    assert deliver() == 2
    assert WebhookDelivery.objects.get(endpoint=lost).last_error == attempts.UNREADABLE
    assert WebhookDelivery.objects.exclude(endpoint=lost).get().last_status == 200
    settings.SIGNING_KEY_ENCRYPTION_KEYS = good


# --- Order ---


def test_one_persons_events_arrive_in_order(receiver: Receiver) -> None:
    posted(endpoint_at(receiver), count=20, subject="person")
    with working(2):
        receiver.wait_for(20)
    assert [request.content["data"]["number"] for request in receiver.requests] == list(range(20))


def test_an_event_waits_for_the_retry_of_an_earlier_one_of_the_same_person_and_no_other_does(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    endpoint = endpoint_at(receiver)
    receiver.failures = 1
    posted(endpoint, subject="person")
    assert deliver() == 1
    posted(endpoint, count=2, subject="person")
    posted(endpoint, subject="another")
    assert deliver() == 1
    assert receiver.requests[-1].id == WebhookDelivery.objects.get(subject="another").message_id
    clock.shift(6 * SECOND)
    assert deliver() == 3
    in_order = list(
        WebhookDelivery.objects.filter(subject="person").order_by("pk").values_list("message_id", flat=True)
    )
    assert [request.id for request in receiver.requests[2:]] == in_order


def test_what_waits_for_a_retry_is_looked_at_once_and_not_at_each_poll(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    endpoint = endpoint_at(receiver)
    receiver.failures = 1
    posted(endpoint, count=3, subject="person")
    deliver()
    assert claims.is_any_due()
    claims.put_behind_retries()
    assert not claims.is_any_due()
    assert len(set(WebhookDelivery.objects.values_list("due_at", flat=True))) == 1
    clock.shift(6 * SECOND)
    assert deliver() == 3


def test_others_behind_many_that_wait_for_one_retry_are_delivered_before_it(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    receiver.failures = 1
    posted(endpoint, count=2 * claims.LOOK, subject="person")
    posted(endpoint, count=3)
    deliver()
    claims.put_behind_retries()
    deliver()
    assert len(receiver.requests) == 4
    assert not claims.is_any_due()


def test_a_retry_that_is_due_is_found_behind_many_that_wait_for_it(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    endpoint = endpoint_at(receiver)
    receiver.failures = 1
    posted(endpoint, count=2 * claims.LOOK, subject="person")
    assert taken()
    WebhookDelivery.objects.exclude(claimed_until=None).update(
        attempts=1, claimed_until=None, due_at=timezone.now() + SECOND
    )
    clock.shift(2 * SECOND)
    receiver.failures = 0
    assert deliver() == 2 * claims.LOOK


def test_what_a_crashed_worker_had_is_found_behind_many_that_wait_for_it(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    posted(endpoint_at(receiver), count=2 * claims.LOOK, subject="person")
    assert taken()
    clock.shift(claims.CLAIM + SECOND)
    assert deliver() == 2 * claims.LOOK


# --- Times ---


def test_a_message_is_retried_for_three_days_then_the_endpoint_is_disabled_and_its_owner_gets_a_letter(
    receiver: Receiver, clock: time_machine.Traveller, mailoutbox: list[EmailMessage]
) -> None:
    endpoint = endpoint_at(receiver)
    receiver.status = 503
    posted(endpoint)
    for number, pause in enumerate(attempts.PAUSES):
        assert deliver() == 1
        row = WebhookDelivery.objects.get()
        assert (row.attempts, row.last_status, row.delivered_at) == (number + 1, 503, None)
        assert row.due_at is not None
        assert pause <= row.due_at - timezone.now() <= pause * 1.1
        clock.move_to(row.due_at - SECOND)
        assert deliver() == 0
        clock.move_to(row.due_at)
    assert not mailoutbox
    assert deliver() == 1
    assert (fresh(endpoint).disabled_at, fresh(endpoint).disabled_by) == (timezone.now(), FAILING)
    assert (timezone.now() - NOON) > 3 * DAY
    assert not WebhookDelivery.objects.waiting().exists()
    assert len({request.id for request in receiver.requests}) == 1
    receiver.wait_until(lambda: bool(mailoutbox))
    (letter,) = mailoutbox
    assert letter.to == [endpoint.user.email if endpoint.user else ""]
    assert "every delivery of three days failed" in str(letter.body)
    assert AuditEvent.objects.get(verb="user:webhook_disabled").data["why"] == "FAILING"


def test_one_success_of_three_days_keeps_the_endpoint(receiver: Receiver, clock: time_machine.Traveller) -> None:
    endpoint = endpoint_at(receiver)
    receiver.failures = 1
    posted(endpoint)
    deliver()
    assert fresh(endpoint).failing_since == timezone.now()
    clock.shift(2 * DAY)
    assert deliver() == 1
    assert fresh(endpoint).failing_since is None
    clock.shift(2 * DAY)
    receiver.failures = 1
    posted(endpoint)
    deliver()
    assert (fresh(endpoint).failing_since, fresh(endpoint).disabled_at) == (timezone.now(), None)


def test_an_idle_worker_asks_one_question_in_a_quarter_of_a_second() -> None:
    dispatcher = delivering.Dispatcher(32)
    began_at = time.monotonic()
    with CaptureQueriesContext(connection) as queries:
        for _ in range(2):
            assert not dispatcher.begin()
            dispatcher.finish(delivering.POLL_SECONDS)
    assert len(queries) == 2
    assert time.monotonic() - began_at > 0.45


def test_a_batch_of_claims_costs_as_much_as_one(receiver: Receiver) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert taken()
        return len(queries)

    posted(endpoint_at(receiver))
    one = cost()
    for _ in range(8):
        posted(endpoint_at(receiver), count=4)
    assert cost() == one


@pytest.mark.parametrize("subject", [None, "person"], ids=["of many people", "of one person"])
@pytest.mark.parametrize("is_known", [True, False], ids=["with statistics", "without statistics"])
def test_a_claim_reads_few_rows_of_a_long_queue(receiver: Receiver, is_known: bool, subject: str | None) -> None:
    posted(endpoint_at(receiver), count=3000, subject=subject)
    if connection.vendor == "postgresql" and is_known:
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE accounts_webhookdelivery")
    with transaction.atomic():
        assert len(taken(hindered=4)) == (4 if subject is None else 1)
        claims.put_behind_retries()
        assert _rows_read() < 1500


def _rows_read() -> int:
    """Rows of deliveries that this transaction has read; 0 on SQLite, which does not count them."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables
            WHERE relid = 'accounts_webhookdelivery'::regclass
        """)
        return int(cursor.fetchone()[0])


# --- What an answer means ---


def test_410_disables_the_endpoint_and_gives_up_what_waits(receiver: Receiver, mailoutbox: list[EmailMessage]) -> None:
    endpoint = endpoint_at(receiver)
    receiver.status = 410
    posted(endpoint, count=6)
    assert deliver() == claims.AT_ONCE
    assert fresh(endpoint).disabled_by == GONE
    assert not WebhookDelivery.objects.waiting().exists()
    receiver.wait_until(lambda: bool(mailoutbox))
    assert "answered 410 Gone" in str(mailoutbox[0].body)


@pytest.mark.parametrize(("status", "error"), [(302, attempts.REDIRECT), (400, ""), (404, ""), (500, "")])
def test_every_other_answer_is_tried_again(receiver: Receiver, status: int, error: str) -> None:
    receiver.status, receiver.headers = status, {"Location": receiver.url}
    posted(endpoint_at(receiver))
    assert deliver() == 1
    row = WebhookDelivery.objects.get()
    assert (row.last_status, row.last_error, row.due_at is not None) == (status, error, True)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_every_2xx_is_a_success(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.body = status, b""
    posted(endpoint_at(receiver))
    deliver()
    assert WebhookDelivery.objects.get().delivered_at is not None


def test_this_machine_gets_nothing_where_that_is_no_longer_allowed(receiver: Receiver, settings: Settings) -> None:
    posted(endpoint_at(receiver))
    settings.WEBHOOKS_TO_LOOPBACK = False
    assert deliver() == 1
    row = WebhookDelivery.objects.get()
    assert (row.last_status, row.delivered_at) == (None, None)
    assert row.last_error == "The host is this service's own machine; write one that is public."
    assert receiver.requests == []


def test_no_answer_is_a_failure_with_a_sentence(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    WebhookEndpoint.objects.update(url="http://127.0.0.1:1/")
    posted(endpoint)
    deliver()
    row = WebhookDelivery.objects.get()
    assert row.last_status is None
    assert row.last_error.endswith(".")
    assert row.due_at is not None


# --- Signatures ---


def test_while_a_secret_is_rotated_both_sign_and_a_day_later_only_the_new_one(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    endpoint = endpoint_at(receiver)
    new = endpoints.rotate_secret(endpoint=endpoint, by=UserFactory())
    (old,) = receiver.secrets
    posted(endpoint)
    deliver()
    (request,) = receiver.wait_for(1)
    for secret in (old, new):
        Webhook(secret).verify(request.body, dict(request.headers))
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    clock.shift(DAY)
    posted(endpoint)
    deliver()
    receiver.wait_for(1, status=401)
    receiver.secrets = [new]
    clock.shift(MINUTE)
    assert deliver() == 1
    assert WebhookDelivery.objects.latest("pk").delivered_at is not None


# --- What is kept ---


def test_finished_deliveries_leave_after_thirty_days(receiver: Receiver, clock: time_machine.Traveller) -> None:
    endpoint = endpoint_at(receiver)
    posted(endpoint)
    deliver()
    clock.shift(claims.KEPT)
    assert claims.delete_past_use(timezone.now()) == 0
    clock.shift(SECOND)
    posted(endpoint)
    assert claims.delete_past_use(timezone.now()) == 1
    assert WebhookDelivery.objects.waiting().count() == 1


def test_an_old_delivery_that_is_sent_again_is_kept_until_it_is_finished(
    receiver: Receiver, clock: time_machine.Traveller
) -> None:
    posted(endpoint_at(receiver))
    deliver()
    clock.shift(claims.KEPT + SECOND)
    endpoints.replay(delivery=WebhookDelivery.objects.get(), by=UserFactory())
    assert claims.delete_past_use(timezone.now()) == 0
    assert deliver() == 1
    assert len(set(receiver.ids())) == 1
    assert claims.delete_past_use(timezone.now()) == 1
