"""Admin of records that staff read only: linked accounts, names, the audit trail, periodic jobs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from accounts import audit
from accounts.admin.staff_actions import ReadOnlyAdmin, columns, staff_of
from accounts.audit import Format, Selection
from accounts.models import AuditEvent, JobRun, LinkedAccount, Name


@admin.register(LinkedAccount)
class LinkedAccountAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", "external_id", "user", "linked_at")
    list_filter = ("kind",)
    list_select_related = ("user",)
    search_fields = ("=external_id", "=name", "^user__username")
    ordering = ("-linked_at", "pk")
    fields = readonly_fields = columns(LinkedAccount)


@admin.register(Name)
class NameAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", "user")
    list_filter = ("kind",)
    list_select_related = ("user",)
    search_fields = ("^key", "^user__username")
    ordering = ("key",)
    fields = readonly_fields = columns(Name)


class ExportForm(forms.Form):
    """What of the audit trail, and as what."""

    since = forms.DateField(widget=forms.DateInput(attrs={"type": "date"}), help_text="The first day, in UTC.")
    until = forms.DateField(
        widget=forms.DateInput(attrs={"type": "date"}), required=False, help_text="The last day; empty: until now."
    )
    action = forms.CharField(
        max_length=64,
        required=False,
        help_text="For example user:banned, or user for all of them; empty: every action.",
    )
    format = forms.ChoiceField(choices=[(Format.CSV.value, "CSV"), (Format.JSONL.value, "JSON, a line for each event")])

    def selection(self) -> Selection:
        """Return the selection of a valid form."""
        return audit.select_days(**{name: self.cleaned_data[name] for name in ("since", "until", "action")})


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    change_list_template = "admin/accounts/auditevent/change_list.html"
    list_display = ("created_at", "actor_name", "actor_kind", "what", "object_name", "object_type", "reason", "address")
    list_filter = ("actor_kind", "created_at")
    search_fields = ("^actor_name", "^verb", "=object_id", "^object_name", "=address")
    ordering = ("-created_at", "-pk")
    fields = readonly_fields = ("what", *columns(AuditEvent))

    @admin.display(description="What", ordering="verb")
    def what(self, event: AuditEvent) -> str:
        return event.in_words

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        return [path("export/", view, name="accounts_auditevent_export"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        may_export = {"may_export": self._may_export(request)}
        return super().changelist_view(request, {**(extra_context or {}), **may_export})

    def export_view(self, request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
        """Ask on GET for the days, send the file on POST. Each export is an audit event itself."""
        if not self._may_export(request):
            raise PermissionDenied
        form = ExportForm(request.POST if request.method == "POST" else None)
        if not form.is_valid():
            context = {**self.admin_site.each_context(request), "title": "Export the audit trail", "opts": self.opts}
            return TemplateResponse(request, "admin/accounts/auditevent/export.html", {**context, "form": form})
        selection, file_format = form.selection(), Format(form.cleaned_data["format"])
        audit.record_export(selection, file_format=file_format, by=staff_of(request))
        response = StreamingHttpResponse(
            audit.export_lines(selection, file_format=file_format), content_type=audit.CONTENT_TYPES[file_format]
        )
        name = f"audit-{timezone.now():%Y-%m-%d}.{file_format.value}"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["Cache-Control"] = "no-store"
        return response

    def _may_export(self, request: HttpRequest) -> bool:
        return staff_of(request).has_perm("accounts.export_auditevent")


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = ("name", "started_at", "succeeded_at", "failed_at", "duration_ms", "message", "last_error")
    search_fields = ("^name",)
    ordering = ("name",)
    fields = readonly_fields = columns(JobRun)
