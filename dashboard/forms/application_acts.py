"""What the pages around an app ask for before they act."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard import versions
from dashboard.access_requests import MAX_REASON
from oidc_provider.models import Application


class NameForm(forms.Form):
    """The app's name, typed, so that nobody acts on the wrong one."""

    typed_name = forms.CharField(widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}))

    def __init__(self, *args: Any, application: Application, **kwargs: Any) -> None:
        """Any: as Django's form."""
        super().__init__(*args, **kwargs)
        self.application = application
        self.fields["typed_name"].label = f"Type the app's name: {application.name}"

    def clean_typed_name(self) -> str:
        typed: str = self.cleaned_data["typed_name"]
        if " ".join(typed.split()) != " ".join(self.application.name.split()):  # as a page shows it
            raise ValidationError(f"This is not the app's name. Type {self.application.name}.")
        return typed


class ResetForm(NameForm):
    """`version`: of the secret that is there, so that a page that is sent twice resets once."""

    version = versions.VersionField()

    def __init__(self, *args: Any, application: Application, **kwargs: Any) -> None:
        """Any: as Django's form."""
        initial = {"version": versions.of(application.secret_changed_at)}
        super().__init__(*args, application=application, initial=initial, **kwargs)


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
