"""What a try asks for, and how the log of requests is narrowed down."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from dashboard.trying.requests import MISTAKES
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.log.models import KINDS_OF_ENDPOINTS, OK
from oidc_provider.models import Application

PROMPTS = (
    ("", "As an app that leaves prompt out"),
    ("consent", "consent: always ask for consent"),
    ("login", "login: always ask for the password"),
    ("none", "none: never ask for anything"),
)
FAILED = "failed"


class TryForm(forms.Form):
    """Starts a try. Only what the app has registered can be ticked."""

    prompt = forms.ChoiceField(choices=PROMPTS, required=False)
    mistake = forms.ChoiceField(
        choices=MISTAKES, required=False, label="Do something wrong", help_text="To see which error your app would get."
    )
    field_order = ["scopes"]

    def __init__(self, *args: Any, application: Application, **kwargs: Any) -> None:
        """Any: as Django's form."""
        super().__init__(*args, **kwargs)
        self.fields["scopes"] = forms.MultipleChoiceField(
            choices=[(name, f"{name}: {SCOPES[name].label}") for name in application.registered_scopes],
            initial=application.registered_scopes,
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Choose at least one scope."},
        )
        self.order_fields(self.field_order)


class RequestFilter(forms.Form):
    """Of a GET. `codes`: the errors that occur."""

    def __init__(self, *args: Any, codes: Iterable[str], **kwargs: Any) -> None:
        """Any: as Django's form."""
        super().__init__(*args, **kwargs)
        endpoints = [("", "Every endpoint"), *((name, name) for name in KINDS_OF_ENDPOINTS)]
        outcomes = [("", "Every outcome"), (OK, "Succeeded"), (FAILED, "Failed"), *((code, code) for code in codes)]
        self.fields["endpoint"] = forms.ChoiceField(choices=endpoints, required=False)
        self.fields["outcome"] = forms.ChoiceField(choices=outcomes, required=False)

    def chosen(self) -> tuple[str, str]:
        """Endpoint and outcome; empty where every one will do, and where the query names none of the choices."""
        self.full_clean()
        cleaned = getattr(self, "cleaned_data", {})
        return cleaned.get("endpoint", ""), cleaned.get("outcome", "")
