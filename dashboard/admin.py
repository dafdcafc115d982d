"""Requests to staff in the admin; and the reset of a second factor, which sends an e-mail."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from accounts import second_factor
from accounts.admin.staff_actions import OperationsAdmin, ReasonForm, StaffAction, columns, through
from accounts.admin.users import UserAdmin
from accounts.models import User
from dashboard import access_requests
from dashboard.models import AccessRequest
from dashboard.staff import actions as staff_actions


class GrantForm(ReasonForm):
    """As on the page of requests, a grant needs no reason."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = False


@admin.register(AccessRequest)
class AccessRequestAdmin(OperationsAdmin):
    list_display = ("subject", "kind", "user", "key", "state", "created_at", "decided_by", "decided_at")
    list_filter = ("state", "kind")
    list_select_related = ("user", "key", "decided_by")
    search_fields = ("^user__username", "=user__id", "=key__prefix", "=subject")
    ordering = ("-created_at", "-pk")
    show_full_result_count = False
    fields = readonly_fields = columns(AccessRequest)
    staff_actions = [
        StaffAction(
            "grant",
            "Grant",
            "Unlocks the scope for the person's apps, or gives the key its permission. The requester reads the reason.",
            staff_actions.DECIDE,
            through(access_requests.grant, "request"),
            form=GrantForm,
            is_offered=lambda request: request.is_pending,
        ),
        StaffAction(
            "deny",
            "Deny",
            "The requester reads the reason, and may ask again.",
            staff_actions.DECIDE,
            through(access_requests.deny, "request"),
            is_offered=lambda request: request.is_pending,
        ),
    ]

    def owners_of(self, row: AccessRequest) -> list[User]:
        return [row.user]


UserAdmin.staff_actions.append(
    StaffAction(
        "reset_second_factor",
        "Reset the second factor",
        "Removes the passkeys, the authenticator app and the recovery codes of the account, ends every session and "
        "writes to the owner. Make sure first that it is the owner who asks. Staff set up a new one before their pages "
        "open again.",
        "accounts.reset_second_factor_user",
        through(staff_actions.reset_second_factor, "user"),
        is_offered=second_factor.has_any,
        check=second_factor.check_authority,
    )
)
