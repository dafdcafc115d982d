"""What the pages show of webhooks: whose they are, their deliveries, and the request and the answer of one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.db.models import QuerySet
from django.urls import reverse

from accounts.models import EventType, User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import endpoints, signatures
from oidc_provider.models import Application

MOST_SHOWN = 1000  # deliveries that can be paged through


@dataclass(frozen=True)
class Owner:
    """Whose webhooks a page shows: those of `application`, or of `user` where there is none. `may_change`: or only
    read."""

    user: User
    application: Application | None = None
    may_change: bool = True

    @property
    def columns(self) -> dict[str, Any]:
        """Return the owner as columns of an endpoint."""
        return {"application": self.application} if self.application else {"user": self.user}

    @property
    def events(self) -> list[EventType]:
        """Return the events that the endpoints of this owner can get."""
        return endpoints.events_of(is_of_app=self.application is not None)

    def url(self, name: str, **kwargs: Any) -> str:
        """Return the page `name` of `urls.py` for this owner."""
        return reverse(name, kwargs={"client_id": self.application.client_id, **kwargs} if self.application else kwargs)


@dataclass(frozen=True)
class EndpointRow:
    """`host`: of the address, by which pages name it."""

    endpoint: WebhookEndpoint
    host: str


def rows_of(owner: Owner) -> list[EndpointRow]:
    """Return the endpoints, the oldest first. 1 query."""
    return [row_of(endpoint) for endpoint in endpoints.of_owner(**owner.columns)]


def row_of(endpoint: WebhookEndpoint) -> EndpointRow:
    return EndpointRow(endpoint, urlsplit(endpoint.url).netloc)


def previous_until(endpoint: WebhookEndpoint, now: datetime) -> datetime | None:
    """Return how long the secret before the current one signs, too; None: it does no more."""
    return endpoint.previous_secret_until if endpoint.signs_with_previous(now) else None


def deliveries_of(endpoint: WebhookEndpoint, state: str = "") -> QuerySet[WebhookDelivery]:
    """Return the newest MOST_SHOWN deliveries, newest first. `state`: a value of `forms.STATES`, or empty for all."""
    found = WebhookDelivery.objects.filter(endpoint=endpoint)
    if state == "waiting":
        found = found.waiting()
    elif state == "failed":
        found = found.filter(due_at=None, delivered_at=None)
    elif state == "delivered":
        found = found.filter(delivered_at__isnull=False)
    return found.order_by("-pk")[:MOST_SHOWN]


@dataclass(frozen=True)
class DeliveryRow:
    """A delivery, and what its page offers."""

    delivery: WebhookDelivery

    @property
    def is_finished(self) -> bool:
        return self.delivery.due_at is None

    @property
    def can_be_sent(self) -> bool:
        """Return whether `endpoints.replay` takes it: a finished one, or one between two attempts."""
        return self.is_finished or (self.delivery.attempts > 0 and self.delivery.claimed_until is None)


def body_of(delivery: WebhookDelivery) -> str:
    """Return the body as it is sent."""
    return signatures.body_of(delivery).decode()
