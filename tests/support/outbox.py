"""What the outbox of webhooks holds."""

from __future__ import annotations

from typing import Any

from accounts.models import WebhookDelivery, WebhookEndpoint


def posted(endpoint: WebhookEndpoint) -> list[tuple[str, str, dict[str, Any]]]:
    """Return type, subject and data of the messages to the endpoint, the oldest first. Any: JSON."""
    rows = WebhookDelivery.objects.filter(endpoint=endpoint).order_by("pk")
    return [(row.type, row.subject, row.data) for row in rows]
