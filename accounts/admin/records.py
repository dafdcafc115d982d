"""Rows that staff look at: linked accounts, names, the audit trail, periodic jobs."""

from __future__ import annotations

from django.contrib import admin

from accounts.admin.staff_actions import ReadOnlyAdmin, columns
from accounts.models import AuditEvent, JobRun, LinkedAccount, Name


@admin.register(LinkedAccount)
class LinkedAccountAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", "external_id", "user", "linked_at")
    list_filter = ("kind",)
    list_select_related = ("user",)
    search_fields = ("=external_id", "=name", "^user__username")
    ordering = ("-linked_at", "pk")
    show_full_result_count = False
    fields = readonly_fields = columns(LinkedAccount)


@admin.register(Name)
class NameAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", "user")
    list_filter = ("kind",)
    list_select_related = ("user",)
    search_fields = ("^key", "^user__username")
    ordering = ("key",)
    show_full_result_count = False
    fields = readonly_fields = columns(Name)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "actor_name", "actor_kind", "verb", "object_name", "object_type", "reason", "address")
    list_filter = ("actor_kind", "created_at")
    search_fields = ("^actor_name", "^verb", "=object_id", "^object_name", "=address")
    ordering = ("-created_at", "-pk")
    show_full_result_count = False
    fields = readonly_fields = columns(AuditEvent)


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = ("name", "started_at", "succeeded_at", "failed_at", "duration_ms", "message", "last_error")
    search_fields = ("^name",)
    ordering = ("name",)
    show_full_result_count = False
    fields = readonly_fields = columns(JobRun)
