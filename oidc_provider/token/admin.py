"""Tokens, for staff: never their values (we hold none), only whose they are; deleting one revokes it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.admin.staff_actions import ReadOnlyAdmin, StaffAction, StaffActionsAdmin, through
from oidc_provider.token import staff_revocations
from oidc_provider.token.models import SigningKey


class HiddenAdmin(ReadOnlyAdmin):
    """Codes and id_tokens: nothing to see."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False


class _TokenAdmin(StaffActionsAdmin):
    search_fields = ("^user__username", "=user__id", "=application__client_id", "^application__name")
    show_full_result_count = False
    list_display_links = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the hash of the value, which no page needs."""
        return super().get_queryset(request).select_related("user", "application").defer("token", "token_checksum")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AccessTokenAdmin(_TokenAdmin):
    list_display = ("__str__", "user", "application", "scope", "created", "expires")
    ordering = ("-expires", "-pk")
    fields = readonly_fields = ("user", "application", "scope", "created", "expires", "token_family")
    staff_actions = [
        StaffAction(
            "revoke",
            "Revoke",
            "The token is dead at once; a refresh token of the same sign-in goes on.",
            "oidc_provider.delete_accesstoken",
            through(staff_revocations.revoke_access_token, "token"),
        ),
    ]


class RefreshTokenAdmin(_TokenAdmin):
    list_display = ("__str__", "user", "application", "scope", "created", "expires_at", "revoked")
    ordering = ("-expires_at", "-pk")
    fields = readonly_fields = (
        "user",
        "application",
        "scope",
        "created",
        "expires_at",
        "revoked",
        "token_family",
    )
    staff_actions = [
        StaffAction(
            "revoke",
            "Revoke",
            "The token and everything else that came from the same sign-in is dead at once.",
            "oidc_provider.delete_refreshtoken",
            through(staff_revocations.revoke_refresh_token, "token"),
        ),
    ]


@admin.register(SigningKey)
class SigningKeyAdmin(ReadOnlyAdmin):
    list_display = ("kid", "state", "created_at", "signing_since", "unpublish_at")
    ordering = ("-created_at", "kid")
    show_full_result_count = False
    fields = readonly_fields = ("kid", "state", "public_key", "created_at", "signing_since", "unpublish_at")

    @admin.display(description="State")
    def state(self, key: SigningKey) -> str:
        if key.is_signing:
            return "signing"
        if key.unpublish_at is not None and key.unpublish_at <= timezone.now():
            return "unpublished"
        return "published"
