"""Folders and their rules, for staff. Every change is an operation; the owner of a row stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone

from accounts import audit
from accounts.admin.audited_admin import AuditedAdmin
from accounts.admin.staff_actions import staff_of
from accounts.models import User
from imagehost import folders, names, rules
from imagehost.errors import FolderExists
from imagehost.folders import Changes
from imagehost.models import File, Folder, FolderRule


class OwnedAdmin(AuditedAdmin):
    """Any: rows of one owner."""

    related: ClassVar[tuple[str, ...]] = ("owner",)
    autocomplete_fields: ClassVar[tuple[str, ...]] = ("owner",)

    def owners_of(self, row: Any) -> list[User]:
        return [row.owner]

    def refresh(self, rows: Sequence[Any]) -> None:
        """Nothing: nothing is rendered or counted of them."""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        read_only = super().get_readonly_fields(request, obj)
        return ("owner", *read_only) if obj is not None else read_only

    def record(self, request: HttpRequest, act: str, rows: Sequence[Any], **data: Any) -> None:
        """Of the row as it is, or was."""
        row = rows[-1]
        noun = str(self.opts.verbose_name).replace(" ", "_")
        audit.record(f"{noun}:{act}", by=staff_of(request), on=row, owner=row.owner_id, **data)


class FolderForm(forms.ModelForm[Folder]):
    def clean_name(self) -> str:
        try:
            return names.folder_name(self.cleaned_data["name"])
        except ValueError as problem:
            raise ValidationError(str(problem)) from None

    def clean(self) -> dict[str, Any]:
        """Names of one owner's folders differ. The model says so of a new one; an old one's form has no owner."""
        super().clean()
        folder, name = self.instance, self.cleaned_data.get("name")
        others = Folder.objects.exclude(pk=folder.pk).filter(owner=folder.owner_id, name=name)
        if not folder._state.adding and name is not None and others.exists():
            self.add_error("name", FolderExists.error)
        return self.cleaned_data


@admin.register(Folder)
class FolderAdmin(OwnedAdmin):
    form = FolderForm
    list_display = ("name", "owner", "is_public", "has_password", "file_count", "updated_at")
    list_filter = ("is_public", ("password_hash", admin.EmptyFieldListFilter))
    search_fields = ("=id", "^name", "=owner__username", "=owner__id")
    ordering = ("-created_at", "pk")
    fields = ("owner", "name", "is_public", "has_password", "file_count", "created_at", "updated_at")
    readonly_fields = ("has_password", "file_count", "created_at", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With the number of stored files, which is counted for the rows of the page alone."""
        stored = File.objects.ready().filter(folder=OuterRef("pk")).order_by().values("folder")
        count = Subquery(stored.annotate(count=Count("pk")).values("count"), output_field=IntegerField())
        rows: QuerySet[Any] = super().get_queryset(request).annotate(stored_files=Coalesce(count, 0))
        return rows

    @admin.display(description="Password", boolean=True)
    def has_password(self, folder: Folder) -> bool:
        return folder.is_password_enabled

    @admin.display(description="Files")
    def file_count(self, folder: Any) -> int:
        """Any: a folder with its annotation; a new one has none."""
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


class FolderRuleForm(forms.ModelForm[FolderRule]):
    def clean(self) -> dict[str, Any]:
        """Problems of the row alone; the model checks the owner of the folder."""
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

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = ("owner", "kind", "pattern", "folder")
        return (*fields, "position") if obj is not None else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("owner", "position") if obj is not None else ()

    def lock(self, rows: Sequence[FolderRule]) -> None:
        """As the operations do, before the row itself is."""
        for owner in sorted({row.owner for row in rows}, key=lambda owner: owner.pk):
            rules.lock(owner)

    def write(self, request: HttpRequest, obj: FolderRule, form: Any, *, change: bool) -> None:
        what: dict[str, Any] = {"kind": obj.kind, "pattern": obj.pattern, "folder_id": obj.folder_id}
        made = rules.change(rule=obj, **what) if change else rules.add(owner=obj.owner, **what)
        vars(obj).update(vars(made))

    def erase(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        for rule in rows:
            rules.delete(owner=rule.owner, rule_id=rule.pk)
