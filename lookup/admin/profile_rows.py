"""The admin of rows that profiles show; a change renders the profiles' documents again, or marks them stale."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.audited_admin import AuditedAdmin
from accounts.models import User
from lookup import documents, profiles
from lookup.models import Profile


class ProfileContentAdmin(AuditedAdmin):
    """Rows of a profile; one may move to another profile."""

    related: ClassVar[tuple[str, ...]] = ("profile__user",)
    autocomplete_fields: ClassVar[tuple[str, ...]] = ("profile",)
    search_fields: ClassVar[tuple[str, ...]] = ("=id", "=profile__id", "=profile__user__username")
    ordering = ("profile", "order", "pk")

    def owners_of(self, row: Any) -> list[User]:
        return [row.profile.user]

    def lock(self, rows: Sequence[Any]) -> None:
        profiles.locked(*{row.profile_id for row in rows})

    def refresh(self, rows: Sequence[Any]) -> None:
        profiles.touch(*sorted({row.profile_id for row in rows}))

    @admin.display(description="User", ordering="profile__user__uid")
    def user(self, row: Any) -> User:
        """Any: a row of a profile."""
        owner: User = row.profile.user
        return owner


class CatalogueAdmin(AuditedAdmin):
    """What many profiles show: these are marked stale, and rendered when somebody looks."""

    @abc.abstractmethod
    def shown_by(self, rows: Sequence[Any]) -> QuerySet[Profile]:
        """The profiles that may show one of these."""

    def owners_of(self, row: Any) -> list[User]:
        return []

    def refresh(self, rows: Sequence[Any]) -> None:
        documents.mark_stale(self.shown_by(rows))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What a row is named by stays: another one would be another row."""
        read_only = super().get_readonly_fields(request, obj)
        return (*read_only, "id") if obj is not None else read_only
