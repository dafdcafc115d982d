"""What is rendered, ranked and counted, for staff to look at: never written by hand."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.staff_actions import ReadOnlyAdmin, columns
from lookup import documents
from lookup.models import LeaderboardEntry, ProfileDocument, UserDocument, Visit


@admin.register(UserDocument)
class UserDocumentAdmin(ReadOnlyAdmin):
    list_display = ("user", "uid", "views", "likes", "dislikes", "comments", "badge_count", "unlock_due")
    list_filter = ("unlock_due",)
    search_fields = ("=uid", "=user__username", "=user__id")
    ordering = ("-uid",)
    show_full_result_count = False
    fields = readonly_fields = columns(UserDocument)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user", "profile")


@admin.register(ProfileDocument)
class ProfileDocumentAdmin(ReadOnlyAdmin):
    list_display = ("profile", "user", "is_fresh", "mirrors_chat")
    search_fields = ("=profile__id", "=user__username", "=user__id")
    ordering = ("-user__uid", "pk")
    show_full_result_count = False
    fields = readonly_fields = columns(ProfileDocument)

    @admin.display(description="Fresh", boolean=True)
    def is_fresh(self, document: ProfileDocument) -> bool:
        """No: the next read renders it."""
        return document.fingerprint == documents.fingerprint()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the texts, which a list does not show."""
        return super().get_queryset(request).select_related("profile", "user").defer(*documents.TEXTS)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """With the texts."""
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
    show_full_result_count = False
    fields = readonly_fields = columns(LeaderboardEntry)


@admin.register(Visit)
class VisitAdmin(ReadOnlyAdmin):
    """Whose profile was seen and when; the visitor's hash is on no page, so a visit has no page of its own."""

    list_display = ("user", "counted_at")
    list_display_links = None
    search_fields = ("=user__username", "=user__id")
    ordering = ("-counted_at", "-pk")
    show_full_result_count = False
    fields = readonly_fields = columns(Visit, without=("visitor",))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user").defer("visitor")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_view_permission(request, obj)
