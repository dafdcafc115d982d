"""Signing keys, for staff to look at. `manage.py signing_keys` changes them."""

from __future__ import annotations

from django.contrib import admin
from django.utils import timezone

from accounts.admin.staff_actions import ReadOnlyAdmin
from oidc_provider.models import SigningKey


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
