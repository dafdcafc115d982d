"""What the sign-in provider adds to a user's page: approvals, and the locked scopes."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.staff_actions import ReadOnlyInline, ReasonForm, StaffAction, through
from accounts.admin.users import UserAdmin
from oidc_provider import applications
from oidc_provider.models import Approval
from oidc_provider.scopes import LOCKED_SCOPES


class ApprovalInline(ReadOnlyInline):
    model = Approval
    fields = readonly_fields = ("application", "scopes", "created_at", "updated_at")
    ordering = ("pk",)
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user", "application")


class LockedScopeForm(ReasonForm):
    scope = forms.ChoiceField(choices=[(name, name) for name in LOCKED_SCOPES])


UserAdmin.inlines.append(ApprovalInline)
UserAdmin.staff_actions += [
    StaffAction(
        "unlock_scope",
        "Unlock a scope",
        "The user's apps may register it.",
        "accounts.unlock_scopes_user",
        through(applications.unlock_scope, "owner"),
        LockedScopeForm,
        is_offered=lambda user: any(scope not in user.unlocked_scopes for scope in LOCKED_SCOPES),
    ),
    StaffAction(
        "relock_scope",
        "Relock a scope",
        "Every app of the user loses it at once.",
        "accounts.unlock_scopes_user",
        through(applications.relock_scope, "owner"),
        LockedScopeForm,
        is_offered=lambda user: bool(user.unlocked_scopes),
    ),
]
