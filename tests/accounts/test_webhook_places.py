"""Places of deliveries: no receiver delays another one, and logouts overtake events."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.webhooks import attempts, claims, outbox
from accounts.webhooks.outbox import Logout
from tests.accounts.clock import NOON
from tests.accounts.webhook_workers import deliver, endpoint_at, fresh, posted, taken, working
from tests.support.webhook_receiver import Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True


# --- No receiver delays another's ---


def test_endpoints_take_turns(receiver: Receiver) -> None:
    busy, quiet = endpoint_at(receiver), endpoint_at(receiver)
    posted(busy, count=50)
    posted(quiet)
    assert [delivery.endpoint_id for delivery in taken(room=2)] == [busy.pk, quiet.pk]


def test_slow_and_failing_endpoints_get_at_most_half_of_the_places(receiver: Receiver) -> None:
    slow = [endpoint_at(receiver) for _ in range(6)]
    failing = {"is_slow": False, "failing_since": timezone.now()}
    WebhookEndpoint.objects.filter(pk__in=[each.pk for each in slow[3:]]).update(**failing)  # new ones count as slow
    for endpoint in slow:
        posted(endpoint, count=10)
    for _ in range(3):
        quick = endpoint_at(receiver)
        WebhookEndpoint.objects.filter(pk=quick.pk).update(is_slow=False)
        posted(quick, count=10)
    found = [delivery.endpoint_id for delivery in taken(room=16, hindered=8)]
    assert len(found) == 16
    assert sum(pk in {each.pk for each in slow} for pk in found) == 8
    assert taken(room=16, hindered=0) != []
    assert len(taken(room=32, hindered=3)) == 3


def test_endpoints_that_hang_delay_nobody_elses_deliveries(receiver: Receiver, another: Receiver) -> None:
    quick = endpoint_at(receiver)
    posted(quick)
    deliver()
    another.seconds = 30
    for _ in range(9):
        posted(endpoint_at(another), count=10)
    with working():
        another.wait_until(lambda: WebhookDelivery.objects.filter(claimed_until__isnull=False).count() == 16)
        posted(quick, count=40)
        receiver.wait_for(41)
        assert not WebhookDelivery.objects.exclude(endpoint=quick).filter(attempts__gt=0).exists()  # none has ended yet
        receiver.wait_until(lambda: WebhookDelivery.objects.filter(claimed_until__isnull=False).count() == 16)
        another.closed.set()


def test_an_answer_after_two_seconds_marks_an_endpoint_as_slow_until_a_quick_one(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    posted(endpoint)
    receiver.seconds = 2.1
    deliver()
    assert fresh(endpoint).is_slow
    receiver.seconds = 0
    posted(endpoint)
    deliver()
    assert not fresh(endpoint).is_slow


# --- Logouts ---


@pytest.fixture
def logout_url(receiver: Receiver, settings: Settings) -> str:
    """The address of the app "app" for logouts; other apps have none."""
    settings.LOGOUT_REQUEST = f"{__name__}.request_of"
    _LOGOUTS["app"] = f"{receiver.url}/logout"
    return _LOGOUTS["app"]


_LOGOUTS: dict[str, str] = {}


def logged_out(client_id: str, sid: str = "one") -> None:
    outbox.post_logouts([Logout(client_id=client_id, subject="person", sid=sid)])


def request_of(*, client_id: str, subject: str, sid: str, message_id: str) -> Any:
    """Make the request of a logout as LOGOUT_REQUEST does. Any: as that."""
    if client_id == "broken":
        raise ValueError("No key signs")
    url = _LOGOUTS.get(client_id)
    return url and (url, {"webhook-id": message_id}, f"{subject} {sid}".encode())


@pytest.mark.usefixtures("logout_url")
class TestLogouts:
    def test_a_logout_overtakes_five_thousand_events(self, receiver: Receiver, another: Receiver) -> None:
        another.seconds = 0.02
        for _ in range(10):
            posted(endpoint_at(another), count=500)
        with working():
            another.wait_for(100)
            logged_out("app", "one")
            logged_out("app", "two")
            receiver.wait_for(2)
            assert WebhookDelivery.objects.waiting().count() > 1000
            another.seconds = 0
        assert {request.body for request in receiver.requests} == {b"person one", b"person two"}

    def test_a_logout_finds_a_place_while_every_endpoint_hangs(self, receiver: Receiver, another: Receiver) -> None:
        another.seconds = 30
        for _ in range(9):
            posted(endpoint_at(another), count=10)
        WebhookEndpoint.objects.update(is_slow=False)
        with working():
            another.wait_until(lambda: WebhookDelivery.objects.filter(claimed_until__isnull=False).count() == 28)
            logged_out("app", "")
            receiver.wait_for(1, seconds=5)
            another.closed.set()
        assert receiver.requests[0].body == b"person "

    def test_a_long_queue_of_one_app_delays_no_logout_of_others(self) -> None:
        outbox.post_logouts(Logout("busy", "person", str(number)) for number in range(claims.LOOKAHEAD + 10))
        assert [row.client_id for row in claims.take_logouts(16, hindered=8)] == ["busy"] * claims.AT_ONCE
        logged_out("app")
        assert [row.client_id for row in claims.take_logouts(16, hindered=8)] == ["app"]

    def test_apps_take_turns(self) -> None:
        for client_id in ("one", "one", "one", "two", "three"):
            logged_out(client_id)
        assert [row.client_id for row in claims.take_logouts(4, hindered=4)] == ["one", "two", "three", "one"]

    def test_slow_apps_get_at_most_half_of_the_places_of_logouts(self) -> None:
        for client_id in ("slow", "slow", "slower", "slower", "app", "other"):
            logged_out(client_id)
        found = [row.client_id for row in claims.take_logouts(8, hindered=3, slow={"slow", "slower"})]
        assert found == ["slow", "slower", "slow", "app", "other"]
        assert claims.take_logouts(8, hindered=0, slow={"slow", "slower"}) == []

    def test_apps_that_hang_delay_no_logout_of_others(
        self, receiver: Receiver, another: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(attempts, "SLOW", 0.2)
        another.seconds = 0.5
        hanging = [f"hanging-{number}" for number in range(6)]
        for client_id in hanging:
            monkeypatch.setitem(_LOGOUTS, client_id, f"{another.url}/logout")
        with working():
            for client_id in hanging:
                logged_out(client_id)
            another.wait_for(6)
            another.seconds = 30
            outbox.post_logouts(Logout(client_id, "person", sid) for sid in "abcdefghi" for client_id in hanging)
            another.wait_until(lambda: WebhookDelivery.objects.filter(claimed_until__isnull=False).count() == 8)
            logged_out("app")
            receiver.wait_for(1, seconds=5)
            assert WebhookDelivery.objects.filter(client_id__in=hanging, attempts=0).count() == 54
            another.closed.set()

    @pytest.mark.parametrize(("status", "is_over"), [(200, True), (204, True), (400, True), (201, False), (503, False)])
    def test_200_and_204_are_a_success_and_400_is_final(self, receiver: Receiver, status: int, is_over: bool) -> None:
        receiver.status = status
        logged_out("app")
        deliver()
        row = WebhookDelivery.objects.get()
        assert (row.due_at is None, row.delivered_at is not None) == (is_over, status in (200, 204))

    def test_a_logout_is_tried_for_two_minutes(self, receiver: Receiver, clock: time_machine.Traveller) -> None:
        receiver.status = 500
        logged_out("app")
        while (due_at := WebhookDelivery.objects.values_list("due_at", flat=True).get()) is not None:
            clock.move_to(due_at)
            assert deliver() == 1
        assert 4 <= len(receiver.requests) <= 7
        assert MINUTE < timezone.now() - NOON <= 2 * MINUTE
        assert len({request.id for request in receiver.requests}) == 1

    @pytest.mark.parametrize(("seconds", "is_tried_again"), [(117, True), (119, False)])
    def test_a_logout_that_a_worker_finds_late_is_not_tried_after_its_two_minutes(
        self, receiver: Receiver, clock: time_machine.Traveller, seconds: int, is_tried_again: bool
    ) -> None:
        receiver.status = 500
        logged_out("app")
        clock.shift(seconds)
        assert deliver() == 1
        assert (WebhookDelivery.objects.get().due_at is not None) == is_tried_again

    def test_an_app_without_an_address_any_more_gets_none(self, receiver: Receiver) -> None:
        logged_out("gone")
        deliver()
        row = WebhookDelivery.objects.get()
        assert (row.due_at, row.delivered_at, row.last_error) == (None, None, attempts.NO_URL)

    def test_a_token_that_cannot_be_signed_is_tried_again(self, receiver: Receiver) -> None:
        logged_out("broken")
        logged_out("app")
        assert deliver() == 2
        row = WebhookDelivery.objects.get(client_id="broken")
        assert (row.due_at is not None, row.last_error) == (True, attempts.UNSIGNED)
        assert len(receiver.requests) == 1


# --- Jobs ---


def test_once_and_cron_deliver_what_is_due_and_leave_it_to_a_worker_of_the_process(receiver: Receiver) -> None:
    posted(endpoint_at(receiver), count=3)
    assert call_command("deliver_webhooks", stdout=io.StringIO()) == "Made 3 attempts to deliver."
    assert len(receiver.ids()) == 3
    with working():
        assert call_command("deliver_webhooks", stdout=io.StringIO()) == "Left to the worker of this process."
