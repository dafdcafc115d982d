"""The admin of the image host: files, folders with their rules, and usage. The user's page sets what a plan allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.html import format_html

from accounts import audit
from accounts.admin.audited_admin import AuditedAdmin
from accounts.admin.staff_actions import OperationsAdmin, ReadOnlyInline, columns, staff_of
from accounts.admin.users import UserAdmin
from accounts.models import User
from accounts.plans import ALLOWANCES
from accounts.staff_actions import StaffAction
from imagehost import media, names
from imagehost.errors import FolderExists
from imagehost.folders import folders, rules
from imagehost.folders.folders import Changes
from imagehost.models import Album, File, Folder, FolderRule, PreviewState, Usage
from imagehost.staff_actions import ALBUM_ACTIONS, DECISION_ACTIONS, FILE_ACTIONS, REPORT_ACTIONS
from imagehost.storing import quotas
from lookup.admin.social import DecisionAdmin, ReportAdmin


@transaction.atomic
def _recount(usage: Usage, *, by: User, reason: str) -> None:
    wrong_by = quotas.recount(owner_id=usage.pk)
    audit.record("usage:recounted", by=by, on=usage.owner, reason=reason, wrong_by=wrong_by)


class TypeFilter(admin.SimpleListFilter):
    """Offers the types of the table `media.ALL`, without a query."""

    title = "type"
    parameter_name = "mime"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(type_.mime, type_.mime) for type_ in media.ALL]

    def queryset(self, request: HttpRequest, queryset: QuerySet[File]) -> QuerySet[File]:
        return queryset.filter(mime=self.value()) if self.value() else queryset


@admin.register(File)
class FileAdmin(OperationsAdmin):
    owners = ("owner",)
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
    fields = readonly_fields = (*columns(File, without=("deletion_hash",)), "links")
    staff_actions = FILE_ACTIONS

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the files with owner and folder, without the hash of the deletion link."""
        return super().get_queryset(request).select_related("owner", "folder").defer("deletion_hash")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find a name with its extension as well, as in URLs."""
        endings = {type_.extension for type_ in media.ALL}
        words = (word.rpartition(".") for word in search_term.split(" "))
        term = " ".join(stem if ending.lower() in endings else stem + dot + ending for stem, dot, ending in words)
        return super().get_search_results(request, queryset, term)

    @admin.display(description="File", ordering="name")
    def file_name(self, file: File) -> str:
        return file.file_name

    @admin.display(description="Size", ordering="size")
    def stored_size(self, file: File) -> str:
        return filesizeformat(file.size)

    @admin.display(description="Links")
    def links(self, file: File) -> str:
        if not file.is_delivered:
            return "-"
        page = format_html('<a href="{}">Page</a>', file.page_url)
        if file.preview_state != PreviewState.MADE:
            return page
        return format_html('{} <a href="{}">Preview</a>', page, file.preview_url)


class OwnedAdmin(AuditedAdmin):
    """Rows that belong to an owner, which never changes."""

    owners = ("owner",)
    fixed: ClassVar[tuple[str, ...]] = ("owner",)
    related: ClassVar[tuple[str, ...]] = ("owner",)
    autocomplete_fields: ClassVar[tuple[str, ...]] = ("owner",)

    def record(self, request: HttpRequest, act: str, rows: Sequence[Any], **data: Any) -> None:
        row = rows[-1]
        noun = str(self.opts.verbose_name).replace(" ", "_")
        audit.record(f"{noun}:{act}", by=staff_of(request), on=row, owner=row.owner_id, **data)


class FolderForm(forms.ModelForm[Folder]):
    def clean_name(self) -> str:
        return names.folder_name(self.cleaned_data["name"])

    def clean(self) -> dict[str, Any]:
        """Refuse a duplicate name. The model checks new folders; the form of an existing one has no owner field."""
        super().clean()
        folder, name = self.instance, self.cleaned_data.get("name")
        rivals = Folder.objects.exclude(pk=folder.pk).filter(owner=folder.owner_id, name=name)
        if not folder._state.adding and name is not None and rivals.exists():
            self.add_error("name", FolderExists.error)
        return self.cleaned_data


@admin.register(Folder)
class FolderAdmin(OwnedAdmin):
    form = FolderForm
    list_display = ("name", "owner", "is_public", "has_password", "file_count", "updated_at")
    list_filter = ("is_public", ("password_hash", admin.EmptyFieldListFilter))
    search_fields = ("=id", "^name", "=owner__username", "=owner__id")
    ordering = ("-created_at", "pk")
    fields = ("owner", "name", "is_public", "has_password", "file_count", "quarantined_at", "created_at", "updated_at")
    readonly_fields = ("has_password", "file_count", "quarantined_at", "created_at", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the folders with their number of stored files, counted only for the rows of the page."""
        stored = File.objects.ready().filter(folder=OuterRef("pk")).order_by().values("folder")
        count = Subquery(stored.annotate(count=Count("pk")).values("count"), output_field=IntegerField())
        rows: QuerySet[Any] = super().get_queryset(request).annotate(stored_files=Coalesce(count, 0))
        return rows

    @admin.display(description="Password", boolean=True)
    def has_password(self, folder: Folder) -> bool:
        return folder.is_password_enabled

    @admin.display(description="Files")
    def file_count(self, folder: Any) -> int:
        """Return the number of stored files. A new folder has no annotation."""
        return int(getattr(folder, "stored_files", 0))

    def write(self, request: HttpRequest, obj: Folder, form: Any, *, change: bool) -> None:
        data = form.cleaned_data
        changes = Changes(name=data["name"], is_public=data["is_public"])
        try:
            if change:
                made = folders.change(owner_id=obj.owner_id, folder_id=obj.pk, changes=changes, now=timezone.now())
            else:
                made = folders.create(owner_id=obj.owner_id, changes=changes, now=timezone.now())
        except FolderExists as taken:
            raise ValidationError(taken.error) from None
        vars(obj).update(vars(made))

    def erase(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        for folder in rows:
            folders.delete(owner_id=folder.owner_id, folder_id=folder.pk)


@admin.register(Album)
class AlbumAdmin(OperationsAdmin):
    """Staff read albums and delete them; only their owners change them."""

    owners = ("owner",)
    list_display = fields = readonly_fields = (
        *("title", "owner", "file_count", "created_at", "updated_at", "page", "quarantined_at"),
    )
    search_fields = ("=id", "=link", "^title", "=owner__username", "=owner__id")
    ordering = ("-created_at", "pk")
    staff_actions = ALBUM_ACTIONS
    related = ("owner",)

    @admin.display(description="Files")
    def file_count(self, album: Album) -> int:
        return len(album.file_ids)

    @admin.display(description="Page")
    def page(self, album: Album) -> str:
        return format_html('<a href="{0}">{0}</a>', album.url)


class FolderRuleForm(forms.ModelForm[FolderRule]):
    def clean(self) -> dict[str, Any]:
        """Check kind and pattern; the model checks the owner of the folder."""
        super().clean()
        data = self.cleaned_data
        if "kind" in data and "pattern" in data:
            for field, sentences in rules.problems(kind=data["kind"], pattern=data["pattern"]).items():
                self.add_error(field, sentences)
        return data


@admin.register(FolderRule)
class FolderRuleAdmin(OwnedAdmin):
    form = FolderRuleForm
    related = ("owner", "folder")
    list_display = ("owner", "position", "kind", "pattern", "folder")
    list_display_links = ("pattern",)
    list_filter = ("kind",)
    search_fields = ("=owner__username", "=owner__id", "=folder__id", "^pattern")
    ordering = ("owner", "position", "pk")
    autocomplete_fields = ("owner", "folder")
    fixed = ("owner", "position")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = ("owner", "kind", "pattern", "folder")
        return (*fields, "position") if obj is not None else fields

    @contextmanager
    def changing(self, rows: Sequence[FolderRule]) -> Iterator[None]:
        """Lock the owner's list first, as the operations do."""
        for owner in sorted({row.owner for row in rows}, key=lambda owner: owner.pk):
            rules.lock(owner)
        yield

    def write(self, request: HttpRequest, obj: FolderRule, form: Any, *, change: bool) -> None:
        what: dict[str, Any] = {"kind": obj.kind, "pattern": obj.pattern, "folder_id": obj.folder_id}
        made = rules.change(rule=obj, **what) if change else rules.add(owner=obj.owner, **what)
        vars(obj).update(vars(made))

    def erase(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        for rule in rows:
            rules.delete(owner=rule.owner, rule_id=rule.pk)


@admin.register(Usage)
class UsageAdmin(OperationsAdmin):
    owners = ("owner",)
    list_display = ("owner", "used", "plan", "max_storage", "max_file_size")
    search_fields = ("=owner__username", "=owner__id")
    ordering = ("-used_bytes", "pk")
    fields = readonly_fields = ("owner", "used", "used_bytes", "plan", "max_storage", "max_file_size")
    staff_actions = (
        StaffAction(
            "recount",
            "Count again",
            "Sets the used storage to the sum of the user's files.",
            "imagehost.change_usage",
            _recount,
        ),
    )
    related = ("owner",)

    @admin.display(description="Used", ordering="used_bytes")
    def used(self, usage: Usage) -> str:
        return filesizeformat(usage.used_bytes)

    @admin.display(description="Plan", ordering="owner__plan")
    def plan(self, usage: Usage) -> str:
        return str(usage.owner.current_plan(timezone.now()).label)

    @admin.display(description="Maximum storage")
    def max_storage(self, usage: Usage) -> str:
        return filesizeformat(ALLOWANCES[usage.owner.current_plan(timezone.now())].max_storage)

    @admin.display(description="Maximum file size")
    def max_file_size(self, usage: Usage) -> str:
        return filesizeformat(ALLOWANCES[usage.owner.current_plan(timezone.now())].max_file_size)


class UsageInline(ReadOnlyInline):
    model = Usage
    verbose_name_plural = "Image host"
    fields = readonly_fields = ("used_bytes",)
    ordering = ("pk",)
    show_change_link = True


UserAdmin.inlines.append(UsageInline)
ReportAdmin.staff_actions = REPORT_ACTIONS
DecisionAdmin.staff_actions = DECISION_ACTIONS
