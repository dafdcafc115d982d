"""Users, for staff."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django import forms
from django.contrib import admin
from django.contrib.auth.forms import BaseUserCreationForm
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest

from accounts import mail, users
from accounts.admin.staff_actions import ReadOnlyInline, StaffActionsAdmin, columns, staff_of
from accounts.models import LinkedAccount, User
from accounts.models.names import validate_available
from accounts.staff_actions import USER_ACTIONS


class UserAddForm(BaseUserCreationForm[User]):
    """A new account, its address taken as confirmed."""

    class Meta:
        model = User
        fields = ("username", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].required = True

    def clean_username(self) -> str:
        username = str(self.cleaned_data["username"])
        validate_available(username)
        return username

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).lower()
        mail.check_spelling(email)
        if users.is_email_taken(email):
            raise ValidationError("This email address is already in use.")
        return email


class UserChangeForm(forms.ModelForm[User]):
    def clean_username(self) -> str:
        username = str(self.cleaned_data["username"])
        if username.upper() != self.instance.username.upper():
            validate_available(username)
        return username


class EmailAddressInline(ReadOnlyInline):
    model = EmailAddress
    fields = readonly_fields = ("email", "verified", "primary")
    ordering = ("pk",)


class LinkedAccountInline(ReadOnlyInline):
    model = LinkedAccount
    fields = readonly_fields = columns(LinkedAccount, without=("id", "user"))
    ordering = ("pk",)


@admin.register(User)
class UserAdmin(StaffActionsAdmin):
    """Apps above append to `inlines` and `staff_actions`."""

    list_display = ("username", "uid", "display_name", "email", "plan", "is_verified", "is_banned", "is_staff")
    list_filter = ("plan", "is_verified", "is_staff", "is_active")
    search_fields = ("=uid", "=id", "^username", "=email")
    ordering = ("-uid",)
    filter_horizontal = ("groups", "user_permissions")
    readonly_fields = ("uid", "id", "email", "unlocked_scopes", "banned_at", "hidden_at", "created_at", "last_login")
    inlines = [EmailAddressInline, LinkedAccountInline]
    fieldsets = (
        (None, {"fields": ("username", "uid", "id", "display_name", "email", "created_at", "last_login")}),
        (
            "Standing",
            {"fields": ("plan", "plan_expires_at", "is_verified", "public_api_access", "banned_at", "hidden_at")},
        ),
        ("Rights", {"fields": ("unlocked_scopes", "is_staff", "is_superuser", "groups", "user_permissions")}),
    )
    staff_actions = USER_ACTIONS

    def owners_of(self, row: User) -> list[User]:
        return [row]

    @admin.display(description="Banned", boolean=True, ordering="banned_at")
    def is_banned(self, user: User) -> bool:
        return user.is_banned

    def get_form(self, request: HttpRequest, obj: Any = None, change: Any = False, **kwargs: Any) -> Any:  # noqa: FBT002
        form = UserAddForm if obj is None else UserChangeForm
        return super().get_form(request, obj, change=change, **{"form": form, **kwargs})

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return [(None, {"fields": ("username", "email", "password1", "password2")})]
        return super().get_fieldsets(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ()
        if staff_of(request).is_superuser:
            return self.readonly_fields
        return (*self.readonly_fields, *sorted(users.SUPERUSER_ONLY))

    def get_inlines(self, request: HttpRequest, obj: Model | None) -> Any:
        return self.inlines if obj is not None else []

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001
        by = staff_of(request)
        if change:
            users.change(user=obj, values={name: form.cleaned_data[name] for name in form.changed_data}, by=by)
            return
        made = users.create(
            username=form.cleaned_data["username"],
            email=form.cleaned_data["email"],
            password=form.cleaned_data["password1"],
            by=by,
            has_verified_email=True,
        )
        vars(obj).update(vars(made))

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: Any = False) -> Any:  # noqa: FBT002
        """Return the message of only the form: the inlines are read-only and were never saved."""
        return super().construct_change_message(request, form, [], add)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        """Do nothing: the operation has set groups and permissions, and the inlines are read-only."""
