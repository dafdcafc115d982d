"""The forms of the account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import User
from accounts.models.names import MAX_NAME_LENGTH, NAME_RULE


class UsernameForm(forms.Form):
    username = forms.CharField(
        label="New username",
        max_length=MAX_NAME_LENGTH,
        help_text=f"{NAME_RULE}.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    keeps_old = forms.BooleanField(
        required=False, initial=True, help_text="Links to it keep working. Otherwise another user may take the name."
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["keeps_old"].label = f"Keep {user.username} as an alias"


class DisplayNameForm(forms.Form):
    display_name = forms.CharField(
        label="Display name",
        max_length=64,
        required=False,
        help_text="Shown to others. Leave it empty to show your username.",
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )


class DeletionForm(forms.Form):
    username = forms.CharField(
        label="Type your username",
        max_length=MAX_NAME_LENGTH,
        help_text="This prevents deletion by accident.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if name != self.user.username:
            raise ValidationError("This is not your username. Type it exactly as on your account page.")
        return name
