"""Apps, approvals, tokens and keys, for staff. Every change is an operation; a secret is shown once.

The toolkit registers the classes that its settings name. Tokens have no values here, as only their hashes are stored.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html

from accounts.admin.fields import RowField
from accounts.admin.staff_actions import (
    IssuingAdmin,
    OperationsAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    StaffActionsAdmin,
    columns,
    staff_of,
)
from accounts.admin.users import UserAdmin
from oidc_provider.applications import application_rules, applications, logos
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Application, Approval, Invitation, SigningKey, Team, TeamMember
from oidc_provider.staff_actions import (
    ACCESS_TOKEN_ACTIONS,
    APPLICATION_ACTIONS,
    APPROVAL_ACTIONS,
    REFRESH_TOKEN_ACTIONS,
    SCOPE_ACTIONS,
)

# The form has the columns' names, the operations their own.
_ARGUMENTS = {"redirect_uris": "redirect_urls", "registered_scopes": "scopes"}
_FIELDS = {argument: field for field, argument in _ARGUMENTS.items()}


class ApplicationForm(forms.ModelForm[Application]):
    redirect_uris = forms.CharField(
        label="Redirect URLs", help_text="One on each line.", widget=forms.Textarea(attrs={"rows": 6, "cols": 80})
    )
    registered_scopes = forms.MultipleChoiceField(
        label="Registered scopes",
        choices=[(scope.name, f"{scope.name}: {scope.label}") for scope in SCOPES.values()],
        widget=forms.CheckboxSelectMultiple,
    )
    # Declared, because the model's form fields would complete an address without scheme to http.
    homepage_url = forms.URLField(required=False, assume_scheme="https")
    privacy_url = forms.URLField(required=False, assume_scheme="https")
    terms_url = forms.URLField(required=False, assume_scheme="https")
    support_url = forms.URLField(required=False, assume_scheme="https")
    logo_file = forms.FileField(
        label="Logo", required=False, help_text="PNG, JPEG, WebP or GIF, at most 1 MB; stored as a PNG of 256x256."
    )
    remove_logo = forms.BooleanField(required=False)

    class Meta:
        model = Application
        fields = ("user", *application_rules.DETAILS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["redirect_uris"] = "\n".join(self.instance.redirect_urls)

    def clean_redirect_uris(self) -> str:
        return " ".join(str(self.cleaned_data["redirect_uris"]).split())

    def clean_logo_file(self) -> bytes | None:
        upload = self.cleaned_data["logo_file"]
        return logos.encode(upload) if upload else None

    def clean(self) -> dict[str, Any]:
        super().clean()
        owner = self.instance.user if self.instance.pk else self.cleaned_data.get("user")
        if owner is not None:
            found = application_rules.problems(owner=owner, team=self.instance.team, **self.arguments())
            for argument, sentences in found.items():
                self.add_error(_FIELDS.get(argument, argument), sentences)
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Does nothing: `clean` has applied the operations' rules, and the operations write the row."""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the operations: the form's data without owner and logo."""
        data = {_ARGUMENTS.get(name, name): value for name, value in self.cleaned_data.items()}
        for name in ("user", "logo_file", "remove_logo"):
            data.pop(name, None)
        if "redirect_urls" in data:
            data["redirect_urls"] = data["redirect_urls"].split()
        return data


class ApplicationAdmin(IssuingAdmin):
    owners = ("user",)
    view_on_site = False  # the toolkit's page of an app is not installed
    form = ApplicationForm
    list_display = ("name", "client_id", "user", "is_verified", "is_suspended", "created")
    list_filter = ("is_verified", ("suspended_at", admin.EmptyFieldListFilter))
    list_select_related = ("user",)
    search_fields = ("=client_id", "^name", "^user__username", "=user__id")
    ordering = ("-created", "-pk")
    autocomplete_fields = ("user",)
    owner_field = "user"
    formfield_overrides = {models.ForeignKey: {"form_class": RowField}}
    editable = (
        *("name", "redirect_uris", application_rules.LOGOUT_URL, "registered_scopes", *application_rules.LINKS),
        *("logo_file", "remove_logo"),
    )
    fixed = (
        *("user", "team", "client_id", "staging_of", "is_verified", "suspended_at", "suspension_reason"),
        *("secret_changed_at", "secret_used_at", "second_secret_changed_at", "second_secret_used_at"),
        *("created", "updated", "current_logo"),
    )
    staff_actions = APPLICATION_ACTIONS

    @admin.display(description="Suspended", boolean=True, ordering="suspended_at")
    def is_suspended(self, application: Application) -> bool:
        return application.is_suspended

    @admin.display(description="Current logo")
    def current_logo(self, application: Application) -> str:
        logo = logos.of(application)
        return format_html('<img src="{}" alt="">', logos.data_url(logo)) if logo else "-"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("user", *(name for name in self.editable if name != "remove_logo"))
        hidden = () if self.has_change_permission(request, obj) else ("logo_file", "remove_logo")
        return (*(name for name in self.editable if name not in hidden), *self.fixed)

    def issue(self, request: HttpRequest, form: ApplicationForm) -> tuple[Application, str]:
        by, owner = staff_of(request), form.cleaned_data["user"]
        registered = applications.register(owner=owner, by=by, **form.arguments())
        if form.cleaned_data["logo_file"]:
            logos.change(application=registered.application, png=form.cleaned_data["logo_file"], by=by)
        return registered.application, registered.client_secret

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        if not change:
            super().save_model(request, obj, form, change)
            return
        by, application, values = staff_of(request), obj, form.arguments()
        applications.change_redirect_urls(application=application, redirect_urls=values.pop("redirect_urls"), by=by)
        applications.change_scopes(application=application, scopes=values.pop("scopes"), by=by)
        applications.change_details(application=application, by=by, **values)
        if form.cleaned_data["logo_file"]:
            logos.change(application=application, png=form.cleaned_data["logo_file"], by=by)
        elif form.cleaned_data["remove_logo"]:
            logos.remove(application=application, by=by)


@admin.register(Approval)
class ApprovalAdmin(StaffActionsAdmin):
    owners = ("user",)
    list_display = ("user", "application", "scopes", "created_at", "updated_at")
    search_fields = ("^user__username", "=user__id", "=application__client_id", "^application__name")
    ordering = ("-updated_at", "-pk")
    fields = readonly_fields = columns(Approval)
    staff_actions = APPROVAL_ACTIONS
    related = ("user", "application")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Approvals are read-only; the list (`obj` None) has actions."""
        return obj is None and super().has_change_permission(request, obj)


class HiddenAdmin(ReadOnlyAdmin):
    """Hides codes and id_tokens."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class _TokenAdmin(OperationsAdmin):
    owners = ("user",)
    search_fields = ("^user__username", "=user__id", "=application__client_id", "^application__name")
    list_display_links = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the hash, which no page needs."""
        return super().get_queryset(request).select_related("user", "application").defer("token", "token_checksum")


class AccessTokenAdmin(_TokenAdmin):
    list_display = ("__str__", "user", "application", "scope", "created", "expires")
    ordering = ("-expires", "-pk")
    fields = readonly_fields = ("user", "application", "scope", "created", "expires", "token_family")
    staff_actions = ACCESS_TOKEN_ACTIONS


class RefreshTokenAdmin(_TokenAdmin):
    list_display = ("__str__", "user", "application", "scope", "created", "expires_at", "revoked")
    ordering = ("-expires_at", "-pk")
    fields = readonly_fields = ("user", "application", "scope", "created", "expires_at", "revoked", "token_family")
    staff_actions = REFRESH_TOKEN_ACTIONS


@admin.register(SigningKey)
class SigningKeyAdmin(ReadOnlyAdmin):
    list_display = ("kid", "state", "created_at", "signing_since", "unpublish_at")
    ordering = ("-created_at", "kid")
    fields = readonly_fields = ("kid", "state", "public_key", "created_at", "signing_since", "unpublish_at")

    @admin.display(description="State")
    def state(self, key: SigningKey) -> str:
        if key.is_signing:
            return "signing"
        if key.unpublish_at is not None and key.unpublish_at <= timezone.now():
            return "unpublished"
        return "published"


class TeamMemberInline(ReadOnlyInline):
    model = TeamMember
    fields = readonly_fields = ("user", "role", "joined_at")
    ordering = ("joined_at", "pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user", "team")


class TeamApplicationInline(ReadOnlyInline):
    model = Application
    verbose_name_plural = "apps"
    view_on_site = False  # as on the page of an app
    fields = readonly_fields = ("name", "client_id", "user")
    ordering = ("pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user", "team")


@admin.register(Team)
class TeamAdmin(ReadOnlyAdmin):
    """Teams change by their owners alone; staff act on their apps and on people."""

    list_display = ("name", "id", "created_at")
    search_fields = ("=id", "name__icontains", "^members__user__username")
    ordering = ("-created_at", "-pk")
    fields = readonly_fields = ("name", "created_at")
    inlines = (TeamMemberInline, TeamApplicationInline)


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("email", "team", "application", "role", "invited_by", "expires_at")
    search_fields = ("=email", "^invited_by__username", "=application__client_id")
    ordering = ("-created_at", "-pk")
    fields = readonly_fields = columns(Invitation, without=("digest",))
    related = ("team", "application", "invited_by")


class ApprovalInline(ReadOnlyInline):
    model = Approval
    fields = readonly_fields = ("application", "scopes", "created_at", "updated_at")
    ordering = ("pk",)
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user", "application")


UserAdmin.inlines.append(ApprovalInline)
UserAdmin.staff_actions = (*UserAdmin.staff_actions, *SCOPE_ACTIONS)
