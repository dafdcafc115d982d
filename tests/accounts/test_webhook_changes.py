"""Endpoints that their owners pause, change or delete while a request is under way."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.webhooks import attempts, claims, endpoints
from tests.accounts.webhook_workers import deliver, endpoint_at, fresh, posted, taken
from tests.factories.accounts import UserFactory
from tests.support.webhook_receiver import Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True


def test_a_failure_that_comes_after_a_pause_waits_for_no_retry(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    posted(endpoint)
    (delivery,) = taken()
    receiver.status = 500
    endpoints.pause(endpoint=endpoint, by=UserFactory())
    attempts.record([attempts.sent(delivery, None)])
    assert (WebhookDelivery.objects.get().due_at, fresh(endpoint).failing_since) == (None, None)


def test_a_success_that_comes_after_a_pause_counts(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    posted(endpoint)
    (delivery,) = taken()
    endpoints.pause(endpoint=endpoint, by=UserFactory())
    attempts.record([attempts.sent(delivery, None)])
    assert WebhookDelivery.objects.get().delivered_at is not None


@pytest.mark.parametrize(("status", "earlier"), [(410, 0), (500, 0), (500, len(attempts.PAUSES)), (200, 0)])
def test_an_answer_of_an_earlier_address_says_nothing_of_the_endpoint(
    receiver: Receiver, status: int, earlier: int
) -> None:
    """The owner changed the address during the request; what was not delivered goes to the new one at once."""
    endpoint = endpoint_at(receiver)
    posted(endpoint, count=2)
    WebhookDelivery.objects.update(attempts=earlier)
    first, second = taken()
    claims.give_back([second])
    receiver.status = status
    result = attempts.sent(first, None)
    receiver.status = 200
    endpoints.change(endpoint=endpoint, by=UserFactory(), url=f"{receiver.url}new", events=endpoint.events)
    attempts.record([result])
    found = fresh(endpoint)
    assert (found.disabled_at, found.failing_since, found.is_slow) == (None, None, True)
    row = WebhookDelivery.objects.get(pk=first.pk)
    assert (row.last_status, row.attempts, row.claimed_until) == (status, earlier + 1, None)
    assert deliver() == (1 if status == 200 else 2)
    assert WebhookDelivery.objects.exclude(delivered_at=None).count() == 2


def test_an_endpoint_that_was_deleted_meanwhile_is_no_error(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    posted(endpoint)
    (delivery,) = taken()
    endpoints.delete(endpoint=endpoint, by=UserFactory())
    attempts.record([attempts.sent(delivery, None)])
    assert not WebhookDelivery.objects.exists()


def test_what_was_written_while_an_endpoint_was_paused_is_given_up(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    WebhookEndpoint.objects.update(disabled_at=timezone.now(), disabled_by="OWNER")
    posted(endpoint)
    assert deliver() == 0
    assert not claims.is_any_due()
    assert not receiver.requests


def test_another_url_forgets_how_the_earlier_one_answered(receiver: Receiver, another: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=2), is_slow=False)
    endpoints.change(endpoint=endpoint, by=UserFactory(), url=another.url, events=endpoint.events)
    assert (fresh(endpoint).failing_since, fresh(endpoint).is_slow) == (None, True)
