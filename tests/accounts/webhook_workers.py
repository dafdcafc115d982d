"""Endpoints of webhooks, their messages, and workers that deliver them in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.utils import timezone

from accounts.models import EventType, User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import claims, delivering, endpoints, outbox
from accounts.webhooks.outbox import Message
from tests.factories.accounts import UserFactory
from tests.support.webhook_receiver import Receiver


def endpoint_at(receiver: Receiver, owner: User | None = None) -> WebhookEndpoint:
    owner = owner or UserFactory()
    endpoint, secret = endpoints.create(by=owner, url=receiver.url, events=[EventType.FILE_EXPIRED], user=owner)
    receiver.secrets.append(secret)
    return endpoint


def fresh(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    return WebhookEndpoint.objects.get(pk=endpoint.pk)


def posted(endpoint: WebhookEndpoint, count: int = 1, subject: str | None = None) -> None:
    """Write messages for different people, or for one."""
    subjects = [f"person-{number}" if subject is None else subject for number in range(count)]
    outbox.post(
        Message(endpoint.pk, EventType.FILE_EXPIRED, each, {"number": number}) for number, each in enumerate(subjects)
    )


def deliver() -> int:
    return delivering.deliver(until=timezone.now() + timedelta(minutes=10))


def taken(room: int = 32, hindered: int = 32) -> list[WebhookDelivery]:
    return claims.take_events(room, hindered=hindered)


@contextmanager
def working(count: int = 1, places: int = delivering.PLACES, patience: float = 30) -> Iterator[None]:
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
            worker.end(patience)
