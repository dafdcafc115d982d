"""How much users store, for staff. What they may store is their plan's: it is set on the user's page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from accounts import audit
from accounts.admin.staff_actions import ReadOnlyInline, StaffAction, StaffActionsAdmin
from accounts.admin.users import UserAdmin
from accounts.models import User
from accounts.plans import ALLOWANCES
from imagehost import quotas
from imagehost.models import Usage


@transaction.atomic
def _recount(usage: Usage, *, by: User, reason: str) -> None:
    wrong_by = quotas.recount(owner_id=usage.pk)
    audit.record("usage:recounted", by=by, on=usage.owner, reason=reason, wrong_by=wrong_by)


@admin.register(Usage)
class UsageAdmin(StaffActionsAdmin):
    list_display = ("owner", "used", "plan", "max_storage", "max_file_size")
    search_fields = ("=owner__username", "=owner__id")
    ordering = ("-used_bytes", "pk")
    show_full_result_count = False
    fields = readonly_fields = ("owner", "used", "used_bytes", "plan", "max_storage", "max_file_size")
    staff_actions = [
        StaffAction(
            "recount",
            "Count again",
            "Sets what is used to what the files of the user add up to.",
            "imagehost.change_usage",
            _recount,
        )
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("owner")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="Used", ordering="used_bytes")
    def used(self, usage: Usage) -> str:
        return filesizeformat(usage.used_bytes)

    @admin.display(description="Plan", ordering="owner__plan")
    def plan(self, usage: Usage) -> str:
        """The one that counts now."""
        return str(usage.owner.current_plan(timezone.now()).label)

    @admin.display(description="In all at most")
    def max_storage(self, usage: Usage) -> str:
        return filesizeformat(ALLOWANCES[usage.owner.current_plan(timezone.now())].max_storage)

    @admin.display(description="A file at most")
    def max_file_size(self, usage: Usage) -> str:
        return filesizeformat(ALLOWANCES[usage.owner.current_plan(timezone.now())].max_file_size)


class UsageInline(ReadOnlyInline):
    model = Usage
    verbose_name_plural = "Image host"
    fields = readonly_fields = ("used_bytes",)
    ordering = ("pk",)
    show_change_link = True


UserAdmin.inlines.append(UsageInline)
