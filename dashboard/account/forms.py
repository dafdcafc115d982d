"""The forms of the account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import User
from accounts.models.names import MAX_NAME_LENGTH, NAME_RULE
from oidc_provider.applications.transfers import Estate, TeamToHandOver
from oidc_provider.models import Application, Team


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
    """`estate`: what is deleted with the account unless another person takes it; `owned`: teams that can take apps."""

    username = forms.CharField(
        label="Type your username",
        max_length=MAX_NAME_LENGTH,
        help_text="This prevents deletion by accident.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, user: User, estate: Estate, owned: Sequence[Team], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user, self.estate = user, estate
        self.teams = {str(team.pk): team for team in owned}
        for held in estate.teams:
            if held.heirs:
                self.fields[f"team_{held.team.pk}"] = _heir_field(held)
        for application in estate.apps if owned else ():
            self.fields[f"app_{application.pk}"] = _taker_field(application, owned)
        self.order_fields([name for name in self.fields if name != "username"])

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if name != self.user.username:
            raise ValidationError("This is not your username. Type it exactly as on your account page.")
        return name

    def clean(self) -> dict[str, Any]:
        """Refuse to give an app to a team that would be deleted with the account, and a choice that the page no longer
        offers: without it, more would be deleted than the person wanted."""
        cleaned: dict[str, Any] = super().clean() or {}
        chosen = [name for name in self.data if name.startswith(("app_", "team_")) and self.data[name]]
        if not self.fields.keys() >= set(chosen):
            raise ValidationError("Your apps or teams changed after you opened this page. Choose again.")
        ending = {str(held.team.pk): held.team for held in self.estate.teams if not self._heir(held)}
        for application in self.estate.apps:
            team = ending.get(self._taker(application))
            if team is not None:
                self.add_error(f"app_{application.pk}", f"{team.name} needs another owner first. Choose one above.")
        return cleaned

    def heirs(self) -> list[tuple[Team, User]]:
        """Return which member becomes an owner of which team, of a valid form."""
        chosen = [(held.team, self._heir(held), held.heirs) for held in self.estate.teams]
        return [(team, member.user) for team, key, members in chosen for member in members if str(member.pk) == key]

    def takers(self) -> list[tuple[Application, Team]]:
        """Return which team takes which app, of a valid form."""
        chosen = [(application, self._taker(application)) for application in self.estate.apps]
        return [(application, self.teams[key]) for application, key in chosen if key]

    def _heir(self, held: TeamToHandOver) -> str:
        return str(self.cleaned_data.get(f"team_{held.team.pk}", ""))

    def _taker(self, application: Application) -> str:
        return str(self.cleaned_data.get(f"app_{application.pk}", ""))


def _heir_field(held: TeamToHandOver) -> forms.ChoiceField:
    apps = f" and its {len(held.apps)} app{'' if len(held.apps) == 1 else 's'}" if held.apps else ""
    members = [(str(member.pk), f"{member.user.username} becomes an owner") for member in held.heirs]
    return forms.ChoiceField(
        label=f"Team {held.team.name}: who becomes an owner?",
        required=False,
        choices=[("", f"Nobody: delete the team{apps} with my account"), *members],
        help_text="It has no other owner whose account stays.",
    )


def _taker_field(application: Application, owned: Sequence[Team]) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=f"App {application.name}: who takes it?",
        required=False,
        choices=[("", "Nobody: delete it with my account"), *((str(team.pk), f"Team {team.name}") for team in owned)],
    )
