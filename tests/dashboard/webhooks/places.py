"""Where webhooks are: the pages of a person and of an app, with endpoints and deliveries to show there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import endpoints
from oidc_provider.models import Application

URL = "https://hooks.example.org/in"


@dataclass(frozen=True)
class Place:
    """The pages of `app`, or of `user` where there is none."""

    user: User
    app: Application | None = None

    @property
    def path(self) -> str:
        return f"/dashboard/apps/{self.app.client_id}/webhooks/" if self.app else "/dashboard/webhooks/"

    @property
    def events(self) -> list[str]:
        return ["user.deleted", "app.disconnected"] if self.app else ["key.disabled", "file.expired"]

    @property
    def foreign_event(self) -> str:
        """An event of the other kind of owner."""
        return "key.disabled" if self.app else "user.deleted"

    @property
    def columns(self) -> dict[str, Any]:
        return {"application": self.app} if self.app else {"user": self.user}

    def endpoint(self, url: str = URL) -> WebhookEndpoint:
        return endpoints.create(by=self.user, url=url, events=self.events, **self.columns)[0]

    def page(self, endpoint: WebhookEndpoint, page: str = "") -> str:
        return f"{self.path}{endpoint.pk}/{page}"


def sent(endpoint: WebhookEndpoint, **values: Any) -> WebhookDelivery:
    """A delivery that a worker has delivered, unless `values` say otherwise."""
    now = timezone.now()
    columns = {
        "type": endpoint.events[0],
        "due_at": None,
        "delivered_at": now,
        "attempts": 1,
        "last_at": now,
        "last_status": 200,
        "last_ms": 41,
        "last_answer": "ok",
        **values,
    }
    return WebhookDelivery.objects.create(endpoint=endpoint, **columns)


def retrying(endpoint: WebhookEndpoint, **values: Any) -> WebhookDelivery:
    """A delivery that failed once and is tried again in five minutes."""
    due_at = timezone.now() + timedelta(minutes=5)
    failed = {"delivered_at": None, "last_status": 500, "last_error": "The answer was 500.", **values}
    return sent(endpoint, due_at=due_at, **failed)


def given_up(endpoint: WebhookEndpoint, **values: Any) -> WebhookDelivery:
    return sent(endpoint, delivered_at=None, attempts=10, last_status=None, last_error="No connection.", **values)
