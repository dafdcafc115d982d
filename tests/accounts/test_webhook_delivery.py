"""The delivery of webhooks: each message at least once, in order, at its time, and no receiver delays another's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import EventType, User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import delivering, endpoints, outbox
from accounts.webhooks.outbox import Message
from tests.factories.accounts import UserFactory
from tests.support import webhook_receiver
from tests.support.webhook_receiver import Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver.running() as receiver:
        yield receiver


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True


def endpoint_at(receiver: Receiver, owner: User | None = None) -> WebhookEndpoint:
    owner = owner or UserFactory()
    url = f"{receiver.url}/{WebhookEndpoint.objects.count()}"
    endpoint, secret = endpoints.create(by=owner, url=url, events=[EventType.FILE_EXPIRED], user=owner)
    receiver.secrets.append(secret)
    return endpoint


def posted(endpoint: WebhookEndpoint, count: int = 1, subject: str | None = None) -> None:
    subjects = [subject] * count if subject is not None else [f"person-{number}" for number in range(count)]
    outbox.post(
        Message(endpoint.pk, EventType.FILE_EXPIRED, each, {"number": number}) for number, each in enumerate(subjects)
    )


def deliver() -> int:
    return delivering.deliver(until=timezone.now() + timedelta(minutes=10))


@contextmanager
def working(count: int = 1, places: int = delivering.PLACES) -> Iterator[None]:
    """Workers in threads of this process."""
    end = threading.Event()
    workers = [delivering.Worker(places=places, is_asked_to_end=end.is_set) for _ in range(count)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        end.set()
        for worker in workers:
            worker.end(30)


def test_a_message_is_delivered_once_and_its_row_says_how(receiver: Receiver) -> None:
    endpoint = endpoint_at(receiver)
    posted(endpoint)
    assert (deliver(), deliver()) == (1, 0)
    (request,) = receiver.requests
    row = WebhookDelivery.objects.get()
    assert (request.id, request.status) == (row.message_id, 200)
    assert (row.attempts, row.due_at, row.claimed_until, row.last_status, row.last_answer) == (1, None, None, 200, "ok")
    assert row.delivered_at == row.last_at


def test_workers_deliver_each_message_of_many_once(receiver: Receiver) -> None:
    for number in range(10):
        posted(endpoint_at(receiver), count=20)
    with working(2):
        receiver.wait_for(200)
    assert len(set(receiver.ids())) == len(receiver.ids()) == 200


def test_one_person_s_events_arrive_in_order(receiver: Receiver) -> None:
    posted(endpoint_at(receiver), count=20, subject="person")
    with working(2):
        receiver.wait_for(20)
    assert [request.content["data"]["number"] for request in receiver.requests] == list(range(20))
