"""Uploaded files, for staff: looked at, taken out of delivery and put back, deleted; each with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.html import format_html

from accounts import users
from accounts.admin.staff_actions import StaffAction, StaffActionsAdmin, columns
from accounts.models import User
from imagehost import addresses, files, media, quarantine
from imagehost.models import File, PreviewState, State


class TypeFilter(admin.SimpleListFilter):
    """From the table of types: the rows are not asked which there are."""

    title = "type"
    parameter_name = "mime"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Any: the admin of files."""
        return [(type_.mime, type_.mime) for type_ in media.ALL]

    def queryset(self, request: HttpRequest, queryset: QuerySet[File]) -> QuerySet[File]:
        return queryset.filter(mime=self.value()) if self.value() else queryset


def _on_file(operation: Callable[..., object]) -> Callable[..., None]:
    """A `run` of a staff action: files of staff accounts are for superusers, as everywhere."""

    def run(file: File, *, by: User, reason: str) -> None:
        if file.owner is not None:
            users.check_may_act_for(owner=file.owner, by=by)
        operation(file=file, by=by, reason=reason)

    return run


@admin.register(File)
class FileAdmin(StaffActionsAdmin):
    list_display = (
        *("file_name", "original_name", "owner", "mime", "stored_size", "state", "uploaded_at", "quarantined_at"),
        "links",
    )
    list_filter = (
        *("state", TypeFilter, ("quarantined_at", admin.EmptyFieldListFilter), "preview_state", "uploaded_at"),
    )
    search_fields = ("=name", "^original_name", "=owner__username", "=owner__id")
    search_help_text = "A file's name with or without its ending, its original name, or its owner's username or id."
    ordering = ("-uploaded_at", "-id")
    show_full_result_count = False
    fields = readonly_fields = (*columns(File, without=("deletion_hash",)), "links")
    staff_actions = [
        StaffAction(
            "quarantine",
            "Quarantine",
            "Nobody gets the file, its page or its preview. It stays stored and counted, and can be restored.",
            "imagehost.quarantine_file",
            _on_file(quarantine.impose),
            is_offered=lambda file: file.is_delivered,
        ),
        StaffAction(
            "restore",
            "Restore",
            "The file, its page and its preview are served again.",
            "imagehost.quarantine_file",
            _on_file(quarantine.lift),
            is_offered=lambda file: (
                file.state == State.READY and file.quarantined_at is not None and not file.moves_from
            ),
        ),
        StaffAction(
            "delete",
            "Delete",
            "Deletes the file and its preview, and gives its bytes back to its owner. It cannot be undone.",
            "imagehost.delete_file",
            _on_file(files.delete),
            is_offered=lambda file: file.state == State.READY,
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With its owner and folder, wherever one is shown; without the hash of the deletion link."""
        return super().get_queryset(request).select_related("owner", "folder").defer("deletion_hash")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """A name is found with its extension as well, as in URLs."""
        endings = {type_.extension for type_ in media.ALL}
        words = (word.rpartition(".") for word in search_term.split(" "))
        term = " ".join(stem if ending.lower() in endings else stem + dot + ending for stem, dot, ending in words)
        return super().get_search_results(request, queryset, term)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="File", ordering="name")
    def file_name(self, file: File) -> str:
        return file.file_name

    @admin.display(description="Size", ordering="size")
    def stored_size(self, file: File) -> str:
        return filesizeformat(file.size)

    @admin.display(description="Links")
    def links(self, file: File) -> str:
        """To what is served of it."""
        if not file.is_delivered:
            return "-"
        page = format_html('<a href="{}">Page</a>', addresses.page_url(file))
        if file.preview_state != PreviewState.MADE:
            return page
        return format_html('{} <a href="{}">Preview</a>', page, addresses.preview_url(file))
