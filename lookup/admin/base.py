"""Base classes of the admins of rows that profiles show: a change renders their documents again or marks them stale."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest

from accounts.admin.audited_admin import AuditedAdmin
from accounts.models import User
from lookup.documents import documents
from lookup.editing import profiles
from lookup.models import Asset, Profile


class ContentForm(forms.ModelForm[Any]):
    """Files must belong to the profile's user; at most one field of `never_both` may be given."""

    never_both: tuple[str, ...] = ()

    def owner_id(self) -> str | None:
        """Return the id of the user whose files the row may show."""
        profile = self.cleaned_data.get("profile")
        return profile.user_id if profile else None

    def clean(self) -> dict[str, Any]:
        super().clean()
        owner_id = self.owner_id()
        for name, value in list(self.cleaned_data.items()):
            if isinstance(value, Asset) and owner_id is not None and value.owner_id != owner_id:
                self.add_error(name, "This file belongs to another user.")
        if self.never_both and all(self.cleaned_data.get(name) for name in self.never_both):
            self.add_error(self.never_both[-1], "Give one of the two, not both.")
        return self.cleaned_data


class ProfileContentAdmin(AuditedAdmin):
    """Rows of a profile; one may move to another profile."""

    form = ContentForm
    owners = ("profile.user",)
    related: ClassVar[tuple[str, ...]] = ("profile__user",)
    list_display: tuple[str, ...] = ("__str__", "user", "profile", "order")
    search_fields: ClassVar[tuple[str, ...]] = ("=id", "=profile__id", "=profile__user__username")
    ordering = ("profile", "order", "pk")

    def changing(self, rows: Sequence[Any]) -> AbstractContextManager[object]:
        return profiles.changing(*{row.profile_id for row in rows})

    def refresh(self, rows: Sequence[Any]) -> None:
        profiles.touch(*{row.profile_id for row in rows})

    def get_autocomplete_fields(self, request: HttpRequest) -> list[str]:
        """Return the columns that name other rows: the profile, files."""
        return [field.name for field in self.model._meta.concrete_fields if isinstance(field, ForeignKey)]

    @admin.display(description="User", ordering="profile__user__uid")
    def user(self, row: Any) -> User:
        """Any: a row of a profile."""
        owner: User = row.profile.user
        return owner


class CatalogueAdmin(AuditedAdmin):
    """Rows that many profiles show: a change marks these profiles stale, and the next lookup renders them."""

    owners = ()
    fixed: ClassVar[tuple[str, ...]] = ("id",)

    @abc.abstractmethod
    def shown_by(self, rows: Sequence[Any]) -> QuerySet[Profile]:
        """Return the profiles that may show one of `rows`."""

    def refresh(self, rows: Sequence[Any]) -> None:
        documents.mark_stale(self.shown_by(rows))


def by_path(error: ValidationError) -> ValidationError:
    """Return problems by path, such as `cardSettings.blur`, as sentences of one field."""
    return ValidationError(
        [f"{path}: {sentence}" for path, sentences in error.message_dict.items() for sentence in sentences]
    )
