"""Webhooks and their deliveries, for staff, who read them and may delete an endpoint. No page shows a secret."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from accounts.admin.staff_actions import OperationsAdmin, ReadOnlyAdmin, columns
from accounts.models import User, WebhookDelivery, WebhookEndpoint
from accounts.staff_actions import WEBHOOK_ACTIONS


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(OperationsAdmin):
    related = ("user", "application__user")
    list_display = ("url", "user", "application", "events", "disabled_by", "failing_since", "is_slow", "created_at")
    list_filter = ("disabled_by", "is_slow")
    search_fields = ("^url", "^user__username", "=application__client_id")
    ordering = ("-pk",)
    fields = readonly_fields = columns(WebhookEndpoint, without=("secret", "previous_secret"))
    staff_actions = WEBHOOK_ACTIONS

    def owners_of(self, row: Any) -> list[User]:
        owner = row.application.user if row.application is not None else row.user
        return [owner] if owner is not None else []


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    related = ("endpoint",)
    list_display = (
        "message_id",
        "type",
        "endpoint",
        "client_id",
        "created_at",
        "attempts",
        "last_status",
        "last_error",
    )
    list_filter = ("type",)
    search_fields = ("=message_id", "=client_id", "=subject")
    ordering = ("-pk",)
    fields = readonly_fields = columns(WebhookDelivery)
