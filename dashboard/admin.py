"""Requests to staff in the admin; and the reset of a second factor, which sends an email."""

from __future__ import annotations

from django.contrib import admin

from accounts.admin.staff_actions import OperationsAdmin, columns
from accounts.admin.users import UserAdmin
from dashboard.models import AccessRequest
from dashboard.staff.actions import REQUEST_ACTIONS, RESET_SECOND_FACTOR


@admin.register(AccessRequest)
class AccessRequestAdmin(OperationsAdmin):
    owners = ("user",)
    list_display = ("subject", "kind", "user", "key", "state", "created_at", "decided_by", "decided_at")
    list_filter = ("state", "kind")
    list_select_related = ("user", "key", "decided_by")
    search_fields = ("^user__username", "=user__id", "=key__prefix", "=subject")
    ordering = ("-created_at", "-pk")
    fields = readonly_fields = columns(AccessRequest)
    staff_actions = REQUEST_ACTIONS


UserAdmin.staff_actions = (*UserAdmin.staff_actions, RESET_SECOND_FACTOR)
