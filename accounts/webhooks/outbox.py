"""Writes messages for delivery, in the transaction of what they tell: both are kept, or neither."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.models import EventType, WebhookDelivery, WebhookEndpoint
from accounts.models.webhooks import LOGOUT


@dataclass(frozen=True)
class Message:
    """`subject`: the id of the person whom it is about, or empty. `data`: JSON without a secret or a claim's value."""

    endpoint_id: int
    type: EventType
    subject: str = ""
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Logout:
    """The session `sid` of the person `subject` at an app has ended; without a `sid`, all sessions have."""

    client_id: str
    subject: str
    sid: str = ""


def subscribed(event: EventType, **owner: Any) -> list[WebhookEndpoint]:
    """Return the endpoints of an owner that want the event, in order. `owner`: conditions. 1 query."""
    rows = WebhookEndpoint.objects.filter(disabled_at=None, **owner).order_by("pk")
    return [row for row in rows if event in row.events]  # a few for each owner; SQLite cannot look into the list


def post(messages: Iterable[Message]) -> None:
    """Write the messages. 1 query, none without messages."""
    _write(
        WebhookDelivery(endpoint_id=each.endpoint_id, type=each.type, subject=each.subject, data=each.data)
        for each in messages
    )


def post_to_user(event: EventType, *, user_id: str, data: dict[str, Any]) -> None:
    """Tell the person's own endpoints. 1 query, and 1 more where there are any."""
    post_to_users(event, [(user_id, data)])


def post_to_users(event: EventType, about: Collection[tuple[str, dict[str, Any]]]) -> None:
    """Tell people's own endpoints; `about`: their ids, each with the data of one event. 1 query for all of them, and 1
    more where there are any endpoints."""
    endpoints = defaultdict(list)
    for endpoint in subscribed(event, user__in={user_id for user_id, _ in about}):
        endpoints[endpoint.user_id].append(endpoint)
    post(Message(endpoint.pk, event, user_id, data) for user_id, data in about for endpoint in endpoints[user_id])


def post_logouts(logouts: Iterable[Logout]) -> None:
    """Tell apps that sessions have ended. 1 query, none without logouts."""
    _write(
        WebhookDelivery(
            client_id=each.client_id, type=LOGOUT, subject=each.subject, data={"sid": each.sid} if each.sid else {}
        )
        for each in logouts
    )


def _write(deliveries: Iterable[WebhookDelivery]) -> None:
    now = timezone.now()
    rows = list(deliveries)
    for row in rows:
        row.created_at = row.due_at = now
    if rows:
        WebhookDelivery.objects.bulk_create(rows)
