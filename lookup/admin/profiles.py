"""Admin of profiles, which are created and deleted with users and aliases, and of their documents and counters."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join

from accounts.admin.audited_admin import AuditedAdmin
from accounts.admin.staff_actions import ReadOnlyAdmin, ReadOnlyInline, columns
from accounts.admin.users import UserAdmin
from lookup.admin.content import ContentForm, by_path
from lookup.documents import documents, registry
from lookup.editing import profiles
from lookup.models import LeaderboardEntry, Profile, ProfileDocument, UserDocument, Visit
from lookup.shapes import settings_schema
from lookup.staff_actions import PROFILE_ACTIONS

_TEXTS = (
    *("name", "display_name", "description", "location", "theme", "font", "font_username"),
    *("sound_effect", "sound_effect_button"),
)


class ProfileForm(ContentForm):
    def owner_id(self) -> str | None:
        user_id: str = self.instance.user_id
        return user_id

    def clean_settings(self) -> dict[str, Any]:
        """Any is JSON: what differs from the defaults."""
        given = self.cleaned_data["settings"]
        try:
            return settings_schema.validated({} if given is None else given)
        except ValidationError as error:
            raise by_path(error) from error


@admin.register(Profile)
class ProfileAdmin(AuditedAdmin):
    owners = ("user",)
    form = ProfileForm
    related = ("user",)
    list_display = ("name", "user", "is_main", "display_name", "updated_at")
    list_filter = ("is_main",)
    search_fields = ("=id", "=user__username", "=user__id")
    ordering = ("-user__uid", "-is_main", "pk")
    autocomplete_fields = Profile.ASSETS
    readonly_fields = ("user", "id", "is_main", "created_at", "updated_at", "content")
    fieldsets = (
        (None, {"fields": ("user", "id", "is_main", "created_at", "updated_at", "content")}),
        ("Texts", {"fields": _TEXTS}),
        ("Files", {"fields": Profile.ASSETS}),
        ("Settings", {"fields": ("settings",), "description": "What differs from the defaults, as JSON."}),
    )

    def changing(self, rows: Sequence[Profile]) -> AbstractContextManager[object]:
        return profiles.changing(*{row.pk for row in rows})

    def refresh(self, rows: Sequence[Profile]) -> None:
        profiles.touch(*{row.pk for row in rows})

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out the settings, the largest column: only the page of an object reads them."""
        return super().get_queryset(request).defer("settings")

    @admin.display(description="Content")
    def content(self, profile: Profile) -> str:
        """Return links to the lists of what the profile has. 1 query for each."""
        return format_html_join(
            " · ",
            '<a href="{}?{}">{} ({})</a>',
            (
                (
                    reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"),
                    urlencode({"profile__id__exact": profile.pk}),
                    model._meta.verbose_name_plural,
                    model._default_manager.filter(profile=profile).count(),
                )
                for content in registry.LISTS.values()
                for model in content.models
            ),
        )


class ProfileInline(ReadOnlyInline):
    model = Profile
    fields = readonly_fields = ("name", "is_main", "display_name", "updated_at")
    ordering = ("-is_main", "pk")
    show_change_link = True


class UserDocumentInline(ReadOnlyInline):
    model = UserDocument
    verbose_name_plural = "Counters"
    fields = readonly_fields = ("views", "likes", "dislikes", "comments", "badge_count")


UserAdmin.inlines += [ProfileInline, UserDocumentInline]
UserAdmin.staff_actions = (*UserAdmin.staff_actions, *PROFILE_ACTIONS)


@admin.register(UserDocument)
class UserDocumentAdmin(ReadOnlyAdmin):
    list_display = ("user", "uid", "views", "likes", "dislikes", "comments", "badge_count", "unlock_due")
    list_filter = ("unlock_due",)
    search_fields = ("=uid", "=user__username", "=user__id")
    ordering = ("-uid",)
    fields = readonly_fields = columns(UserDocument)
    related = ("user", "profile")


@admin.register(ProfileDocument)
class ProfileDocumentAdmin(ReadOnlyAdmin):
    list_display = ("profile", "user", "is_fresh", "mirrors_chat")
    search_fields = ("=profile__id", "=user__username", "=user__id")
    ordering = ("-user__uid", "pk")
    fields = readonly_fields = columns(ProfileDocument)

    @admin.display(description="Fresh", boolean=True)
    def is_fresh(self, document: ProfileDocument) -> bool:
        """Return whether the document is up to date; if not, the next read renders it."""
        return document.fingerprint == documents.fingerprint()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out the texts, which a list does not show."""
        return super().get_queryset(request).select_related("profile", "user").defer(*documents.TEXTS)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the document with its texts."""
        document = super().get_object(request, object_id, from_field)
        if document is not None:
            document.refresh_from_db(fields=documents.TEXTS)
        return document


@admin.register(LeaderboardEntry)
class LeaderboardEntryAdmin(ReadOnlyAdmin):
    list_display = ("board", "rank", "user", "score", "change")
    list_filter = ("board",)
    list_select_related = ("user",)
    search_fields = ("=user__username", "=user__id")
    ordering = ("board", "rank")
    fields = readonly_fields = columns(LeaderboardEntry)


@admin.register(Visit)
class VisitAdmin(ReadOnlyAdmin):
    """List the profile and the time of visits. The visitor's hash is never shown, so a visit has no page."""

    list_display = ("user", "counted_at")
    list_display_links = None
    search_fields = ("=user__username", "=user__id")
    ordering = ("-counted_at", "-pk")
    fields = readonly_fields = columns(Visit, without=("visitor",))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user").defer("visitor")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_view_permission(request, obj)
