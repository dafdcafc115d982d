"""API keys, for staff. The operation makes a key; only that answer shows its secret."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from accounts.admin.fields import RowField
from accounts.admin.staff_actions import IssuingAdmin, columns, staff_of
from accounts.api_keys import keys
from accounts.models import ApiKey, Permission
from accounts.staff_actions import KEY_ACTIONS


class ApiKeyAddForm(forms.ModelForm[ApiKey]):
    # Not `permissions`: the column of that name is closed to forms.
    allowed = forms.MultipleChoiceField(
        label="Permissions", choices=Permission.choices, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = ApiKey
        fields = ("owner", "name", "expires_at", "remaining_uses", "refill_amount", "refill_interval", "origins")

    def clean(self) -> dict[str, Any]:
        super().clean()
        for argument, sentences in keys.problems(**self.arguments()).items():
            self.add_error("allowed" if argument == "permissions" else argument, sentences)
        return self.cleaned_data

    def arguments(self) -> dict[str, Any]:
        """The arguments of `keys.issue`."""
        return {("permissions" if name == "allowed" else name): value for name, value in self.cleaned_data.items()}


@admin.register(ApiKey)
class ApiKeyAdmin(IssuingAdmin):
    owners = ("owner",)
    list_display = ("prefix", "name", "owner", "permissions", "is_enabled", "revoked_at", "expires_at", "last_used_at")
    list_filter = ("is_enabled",)
    list_select_related = ("owner",)
    search_fields = ("=prefix", "^name", "^owner__username")
    ordering = ("-created_at", "-pk")
    autocomplete_fields = ("owner",)
    owner_field = "owner"
    formfield_overrides = {models.ForeignKey: {"form_class": RowField}}
    form = ApiKeyAddForm
    staff_actions = KEY_ACTIONS

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether staff may open the list. A key changes only through its actions."""
        return obj is None and super().has_change_permission(request, obj)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return [*ApiKeyAddForm.Meta.fields, "allowed"]
        return columns(ApiKey, without=("secret_hash",))

    def issue(self, request: HttpRequest, form: ApiKeyAddForm) -> tuple[ApiKey, str]:
        issued = keys.issue(**form.arguments(), by=staff_of(request))
        return issued.key, issued.secret
