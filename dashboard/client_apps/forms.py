"""The forms of an app: its settings, its secret, requests for scopes, the login test and the request log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.datastructures import MultiValueDict

from accounts.models import User
from dashboard import versions
from dashboard.access_requests import MAX_REASON
from dashboard.client_apps import actions, redirect_editor
from dashboard.client_apps.login_test import MISTAKES
from dashboard.client_apps.queries import LABELS
from dashboard.client_apps.redirect_editor import RedirectRow
from dashboard.forms import Filter
from oidc_provider import redirects
from oidc_provider.applications import application_rules, logos
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import KINDS_OF_ENDPOINTS, OK, Application, Team
from oidc_provider.models.applications import MAX_LINK_LENGTH, MAX_LOGOUT_URI_LENGTH, MAX_NAME_LENGTH

FIX_THE_ROWS = "Fix the rows that show an error."
_STARTS_WITH = ["openid", "identify"]


class RedirectUrlsField(forms.Field):
    """Cleans to the rows that are not empty. `AppForm.redirect_rows` has the error of each row.

    The template writes the rows; the widget only reads them.
    """

    widget = forms.SelectMultiple

    def to_python(self, value: list[str] | None) -> list[str]:
        return [url.strip() for url in value or [] if url.strip()]

    def validate(self, value: list[str]) -> None:
        if any(row.problem for row in redirect_editor.rows_of(value)):
            raise ValidationError(FIX_THE_ROWS)
        problems = redirects.problems_of_all(value)
        if problems:
            raise ValidationError(problems)


class AppForm(forms.Form):
    """`owner`: whose app it is, or will be; `team`: whose too. `is_staging`: it is a staging app."""

    is_staging = False
    team: Team | None = None

    name = forms.CharField(
        max_length=MAX_NAME_LENGTH,
        help_text="People read it on the consent screen. It must not look like another app or this service.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "data-preview": ""}),
    )
    logo = forms.FileField(
        required=False,
        help_text="A square PNG, JPEG, WebP or GIF, up to 1 MB. Without one the first letter of the name is shown.",
        widget=forms.FileInput(
            attrs={"accept": "image/png,image/jpeg,image/webp,image/gif", "data-preview": "", "data-crop": "512x512"}
        ),
    )
    homepage_url, privacy_url, terms_url, support_url = (
        forms.CharField(
            label=LABELS[name],
            required=False,
            max_length=MAX_LINK_LENGTH,
            widget=forms.TextInput(
                attrs={"inputmode": "url", "autocomplete": "off", "data-preview": "", "spellcheck": "false"}
            ),
        )
        for name in application_rules.LINKS
    )
    redirect_urls = RedirectUrlsField(label="Redirect URLs", required=False)
    backchannel_logout_uri = forms.CharField(
        label=LABELS[application_rules.LOGOUT_URL],
        required=False,
        max_length=MAX_LOGOUT_URI_LENGTH,
        help_text="Leave it empty if your app does not need it.",
        widget=forms.TextInput(
            attrs={"inputmode": "url", "autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    scopes = forms.MultipleChoiceField(required=False, choices=[(name, scope.label) for name, scope in SCOPES.items()])

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner

    def clean_logo(self) -> bytes | None:
        """Draw the logo here, outside of the operation's transaction."""
        upload = self.cleaned_data["logo"]
        return logos.encode(upload) if upload else None

    def clean(self) -> dict[str, Any]:
        """Check the rules of the operation, so that every field has its message at once.

        An unchanged value is not checked: a name may be older than the verified app that it resembles.
        """
        values = super().clean() or {}
        names = ("scopes", *application_rules.DETAILS)
        asked = {name: values[name] for name in names if name in values and values[name] != self.initial.get(name)}
        for name, sentences in application_rules.problems(owner=self.owner, team=self.team, **asked).items():
            self.add_error(name, sentences)
        return values

    def values(self) -> dict[str, Any]:
        """Return the arguments of the operation from a valid form."""
        names = ("redirect_urls", "scopes", "logo", *application_rules.DETAILS)
        return {name: self.cleaned_data[name] for name in names}

    def sent_logo(self) -> bytes | None:
        """Return the logo as it would be stored; None: none was sent, or it was refused."""
        return self.cleaned_data.get("logo") if self.is_bound and "logo" not in self.errors else None

    def redirect_rows(self) -> list[RedirectRow]:
        """Return the rows of the editor: the filled ones with their messages, and empty ones up to the limit."""
        rows = redirect_editor.rows_of(self._typed("redirect_urls"), is_staging=self.is_staging)
        return redirect_editor.blank(rows)

    def redirect_count(self) -> int:
        return len(self._typed("redirect_urls"))

    def chosen_scopes(self) -> list[str]:
        return [name for name in self._typed("scopes") if name in SCOPES]

    def _typed(self, name: str) -> list[str]:
        return [value.strip() for value in self[name].value() or [] if value.strip()]


class NewAppForm(AppForm):
    """`ticket`: the signed client id, so that a form sent twice creates one app."""

    ticket = forms.CharField(widget=forms.HiddenInput, max_length=200)

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        ticket = actions.new_ticket(owner)
        kwargs["initial"] = {"ticket": ticket, "scopes": _STARTS_WITH, **kwargs.get("initial", {})}
        super().__init__(*args, owner=owner, **kwargs)

    def clean_ticket(self) -> str:
        """Return the client id. A bad ticket is replaced, so that the form can be sent once more."""
        try:
            return actions.client_id_of(self.cleaned_data["ticket"], self.owner)
        except ValidationError:
            self._renew_ticket()
            raise

    def refuse_deleted(self) -> None:
        """Renew the ticket, because the app that it created was deleted."""
        self._renew_ticket()
        self.add_error("ticket", actions.DELETED_MEANWHILE)

    def _renew_ticket(self) -> None:
        self.data = MultiValueDict(self.data)  # a request's own cannot be changed
        self.data["ticket"] = self.initial["ticket"]


class EditAppForm(AppForm):
    """The page shows `is_sure` only after the operation asked for it."""

    removes_logo = forms.BooleanField(label="Remove the logo", required=False)
    version = versions.VersionField()
    is_sure = forms.BooleanField(label="Remove it anyway", required=False)

    def __init__(self, *args: Any, team: Team | None, is_staging: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team, self.is_staging = team, is_staging

    @classmethod
    def initial_of(cls, application: Application) -> dict[str, Any]:
        return {
            "redirect_urls": application.redirect_urls,
            "scopes": application.registered_scopes,
            "version": versions.of(application.updated),
            **{name: getattr(application, name) for name in application_rules.DETAILS},
        }

    def values(self) -> dict[str, Any]:
        values, cleaned = super().values(), self.cleaned_data
        if values["logo"] is None and cleaned["removes_logo"]:
            values["logo"] = b""
        return {**values, "version": cleaned["version"], "is_sure": cleaned["is_sure"]}

    def asks_whether_sure(self) -> bool:
        return self.has_error("__all__", "recently_used")


class NameForm(forms.Form):
    """The app's name, typed as a confirmation."""

    typed_name = forms.CharField(
        max_length=2 * MAX_NAME_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )

    def __init__(self, *args: Any, application: Application, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.application = application
        self.fields["typed_name"].label = f"Type the app's name: {application.name}"

    def clean_typed_name(self) -> str:
        typed: str = self.cleaned_data["typed_name"]
        if " ".join(typed.split()) != " ".join(self.application.name.split()):  # as a page shows it
            raise ValidationError(f"This is not the app's name. Type {self.application.name}.")
        return typed


class ResetForm(NameForm):
    """`version`: of the current secrets, so that a form sent twice resets once."""

    version = versions.VersionField()

    def __init__(self, *args: Any, application: Application, **kwargs: Any) -> None:
        initial = {"version": actions.version_of_secrets(application)}
        super().__init__(*args, application=application, initial=initial, **kwargs)


class CopyForm(forms.Form):
    """`version`: of the differences that the page shows."""

    version = forms.CharField(widget=forms.HiddenInput, max_length=64)


class AddSecretForm(forms.Form):
    """`version`: as that of a ResetForm."""

    version = versions.VersionField()


class AskForm(forms.Form):
    reason = forms.CharField(
        label="What do you need it for?",
        max_length=MAX_REASON,
        help_text="Staff read this, and answer. Say what your app does with the data, and link to it if it is online.",
        widget=forms.Textarea(attrs={"rows": 5}),
    )


class MatchForm(forms.Form):
    url = forms.CharField(
        label="The URL that was refused",
        max_length=4000,
        help_text="The redirect URL that your app sent, or the whole address of the authorization request.",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
    )


PROMPTS = (
    ("", "As an app that leaves prompt out"),
    ("consent", "consent: always ask for consent"),
    ("login", "login: always ask for the password"),
    ("none", "none: never ask for anything"),
)
FAILED = "failed"


class TryForm(forms.Form):
    """Starts a login test with some of the registered scopes."""

    prompt = forms.ChoiceField(choices=PROMPTS, required=False)
    mistake = forms.ChoiceField(
        choices=MISTAKES, required=False, label="Simulate an error", help_text="To see which error your app would get."
    )
    field_order = ["scopes"]

    def __init__(self, *args: Any, application: Application, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"] = forms.MultipleChoiceField(
            choices=[(name, f"{name}: {SCOPES[name].label}") for name in application.registered_scopes],
            initial=application.registered_scopes,
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Choose at least one scope."},
        )
        self.order_fields(self.field_order)


class RequestFilter(Filter):
    """Of a GET. `codes`: the errors that occur."""

    def __init__(self, *args: Any, codes: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        endpoints = [("", "Every endpoint"), *((name, name) for name in KINDS_OF_ENDPOINTS)]
        outcomes = [("", "Every outcome"), (OK, "Succeeded"), (FAILED, "Failed"), *((code, code) for code in codes)]
        self.fields["endpoint"] = forms.ChoiceField(choices=endpoints, required=False)
        self.fields["outcome"] = forms.ChoiceField(choices=outcomes, required=False)
