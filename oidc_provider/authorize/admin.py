"""What users allowed apps to do, for staff."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.staff_actions import StaffAction, StaffActionsAdmin, columns, through
from oidc_provider.authorize.models import Approval
from oidc_provider.token import staff_revocations


@admin.register(Approval)
class ApprovalAdmin(StaffActionsAdmin):
    list_display = ("user", "application", "scopes", "created_at", "updated_at")
    search_fields = ("^user__username", "=user__id", "=application__client_id", "^application__name")
    ordering = ("-updated_at", "-pk")
    show_full_result_count = False
    fields = readonly_fields = columns(Approval)
    staff_actions = [
        StaffAction(
            "disconnect",
            "Disconnect",
            "Deletes the approval and every token of the app for this user.",
            "oidc_provider.delete_approval",
            through(staff_revocations.disconnect, "approval"),
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With both, wherever one is shown."""
        return super().get_queryset(request).select_related("user", "application")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing is changed by hand; with the list (`obj` None) go its actions."""
        return obj is None and super().has_change_permission(request, obj)
