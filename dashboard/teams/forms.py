"""The forms of teams, invitations and roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.teams.queries import PERSON, Destination
from oidc_provider.models import Role, Team
from oidc_provider.models.teams import MAX_EMAIL_LENGTH, MAX_TEAM_NAME_LENGTH

ROLES = [
    (Role.OWNER.value, "Owner: also members, transfer and deletion"),
    (Role.DEVELOPER.value, "Developer: also settings, secrets and the login test"),
    (Role.VIEWER.value, "Viewer: reads overview, usage, requests and activity"),
]


class TeamForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=MAX_TEAM_NAME_LENGTH,
        help_text="Members and people whom you invite read it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=ROLES, widget=forms.RadioSelect)


class InviteForm(forms.Form):
    email = forms.EmailField(
        label="Email address",
        max_length=MAX_EMAIL_LENGTH,
        help_text="The person gets an email with a link that works for 7 days.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(choices=ROLES, initial=Role.DEVELOPER.value, widget=forms.RadioSelect)


class DeleteTeamForm(forms.Form):
    typed_name = forms.CharField(
        label="Type the name of the team",
        max_length=MAX_TEAM_NAME_LENGTH * 2,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team

    def clean_typed_name(self) -> str:
        typed: str = self.cleaned_data["typed_name"]
        if typed.split() != self.team.name.split():  # as a page shows it
            raise ValidationError(f"This is not the team's name. Type {self.team.name}.")
        return typed


class TransferForm(forms.Form):
    """`destinations`: where the app can go. `is_sure`: the reader has seen what the transfer means."""

    to = forms.ChoiceField(label="Transfer to", widget=forms.RadioSelect)
    email = forms.EmailField(
        label="Email address of the other person",
        required=False,
        max_length=MAX_EMAIL_LENGTH,
        help_text="Only for a transfer to another person.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    is_sure = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, destinations: Sequence[Destination], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.destinations = {each.key: each for each in destinations}
        self.fields["to"].choices = [  # type: ignore[attr-defined]  # a ChoiceField's
            (each.key, each.name[:1].upper() + each.name[1:]) for each in destinations
        ]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("to") == PERSON and not cleaned.get("email") and not self.has_error("email"):
            self.add_error("email", "Enter the email address of the person.")
        return cleaned

    def destination(self) -> Destination:
        """Return the chosen one, of a valid form."""
        chosen, email = self.destinations[self.cleaned_data["to"]], self.cleaned_data["email"].strip().lower()
        return replace(chosen, name=email, email=email) if chosen.key == PERSON else chosen

    def asked(self) -> TransferForm:
        """Return the same choice as a form without visible fields, to be sent once the reader is sure."""
        initial = {"to": self.cleaned_data["to"], "email": self.cleaned_data["email"], "is_sure": True}
        form = TransferForm(initial=initial, destinations=list(self.destinations.values()))
        for field in form.fields.values():
            field.widget = forms.HiddenInput()
        return form
