"""Admin of aliases. Every change is an operation, which keeps the one namespace and the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.http import HttpRequest

from accounts import users
from accounts.admin.audited_admin import AuditedAdmin
from accounts.admin.fields import RowField
from accounts.admin.staff_actions import staff_of
from accounts.models import Name, User
from accounts.models.names import MAX_NAME_LENGTH, validate_available
from accounts.models.users import username_validator
from lookup.editing import aliases, profiles
from lookup.models import Alias


class AliasChangeForm(forms.ModelForm[Alias]):
    has_own_profile = forms.BooleanField(
        required=False, help_text="Without one it shows the main profile; one that it had is deleted."
    )

    class Meta:
        model = Alias
        fields = ("redirects",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["has_own_profile"] = self.instance.profile_id is not None

    def _post_clean(self) -> None:
        """Skip: the operations write their own row."""


class AliasAddForm(AliasChangeForm):
    # Not `name`: the column of that name is a row of the namespace, which the operation makes.
    user = RowField(User.objects.all(), widget=AutocompleteSelect(Name._meta.get_field("user"), admin.site))
    alias = forms.CharField(max_length=MAX_NAME_LENGTH, validators=[username_validator, validate_available])


@admin.register(Alias)
class AliasAdmin(AuditedAdmin):
    owners = ("name.user",)
    fixed = ("name", "user", "profile", "created_at")
    related = ("name__user", "profile")
    list_display = ("name", "user", "redirects", "profile", "created_at")
    list_filter = ("redirects",)
    search_fields = ("=name__key", "=name__user__username", "=profile__id")
    ordering = ("-created_at", "pk")

    @admin.display(description="User", ordering="name__user__uid")
    def user(self, alias: Alias) -> User:
        return alias.name.user

    def get_form(self, request: HttpRequest, obj: Any = None, change: Any = False, **kwargs: Any) -> Any:  # noqa: FBT002
        form = AliasAddForm if obj is None else AliasChangeForm
        return super().get_form(request, obj, change=change, **{"form": form, **kwargs})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("user", "alias", "redirects", "has_own_profile")
        if self.has_change_permission(request, obj):
            return ("name", "user", "profile", "redirects", "has_own_profile", "created_at")
        return ("name", "user", "profile", "redirects", "created_at")

    def save_model(self, request: HttpRequest, obj: Alias, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        by, data = staff_of(request), form.cleaned_data
        users.check_staff_action(owners=[obj.name.user if change else data["user"]], by=by)
        what = {name: data[name] for name in ("redirects", "has_own_profile")}
        if change:
            aliases.change(alias=obj, by=by, **what)
        else:
            made = aliases.add(user=data["user"], name=data["alias"], by=by, **what)
            vars(obj).update(vars(made))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        """Do nothing: the operation has saved the row."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Add the profiles that are deleted with the aliases."""
        deleted, counts, perms_needed, protected = super().get_deleted_objects(objs, request)
        own = [alias.profile for alias in objs if alias.profile is not None]
        return [*deleted, *(f"Profile: {profile}" for profile in own)], counts, perms_needed, protected

    def delete_rows(self, request: HttpRequest, rows: Sequence[Alias]) -> None:
        users.check_staff_action(owners=[alias.name.user for alias in rows], by=staff_of(request))
        with profiles.changing(all_of={alias.name.user_id for alias in rows}):
            for alias in self.get_queryset(request).filter(pk__in=[row.pk for row in rows]).order_by("pk"):
                aliases.remove(alias=alias, by=staff_of(request))
