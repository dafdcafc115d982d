"""Uploaded files, for staff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.audited_admin import AuditedAdmin
from accounts.models import User
from lookup import profiles
from lookup.models import Asset, Profile


@admin.register(Asset)
class AssetAdmin(AuditedAdmin):
    """A file stays with its owner, whose profiles are rendered anew with it."""

    related = ("owner",)
    list_display = ("path", "mime", "owner", "width", "height", "duration", "created_at")
    search_fields = ("=id", "=path", "=owner__username", "=owner__id")
    ordering = ("-created_at", "pk")
    autocomplete_fields = ("owner",)
    fields = ("owner", "path", "mime", "width", "height", "duration", "created_at")

    def owners_of(self, row: Asset) -> list[User]:
        return [row.owner]

    def lock(self, rows: Sequence[Asset]) -> None:
        profiles.locked(*self._profiles_of(rows))

    def refresh(self, rows: Sequence[Asset]) -> None:
        """Not merely stale: the owner's picture is shown beside their comments on other profiles."""
        profiles.touch(*self._profiles_of(rows))

    def _profiles_of(self, rows: Sequence[Asset]) -> QuerySet[Profile, str]:
        """Their ids."""
        return Profile.objects.filter(user__in={row.owner_id for row in rows}).values_list("pk", flat=True)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("owner", "created_at") if obj is not None else ("created_at",)
