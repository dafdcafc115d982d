"""Further names of a user."""

from __future__ import annotations

from django import forms
from django.db.models import TextChoices

from accounts.models.names import MAX_NAME_LENGTH, validate_available
from accounts.models.users import username_validator
from lookup.models import Alias


class Shows(TextChoices):
    """What visitors of an alias get."""

    REDIRECT = "redirect", "They are sent on to your username"
    MAIN = "main", "They see your main profile, under this name"
    OWN = "own", "They see a profile of its own"


def shown_by(alias: Alias) -> Shows:
    if alias.redirects:
        return Shows.REDIRECT
    return Shows.OWN if alias.profile_id is not None else Shows.MAIN


class AliasChangeForm(forms.Form):
    shows = forms.ChoiceField(
        choices=Shows.choices, initial=Shows.REDIRECT, widget=forms.RadioSelect, label="What visitors get"
    )

    def choices_of_operation(self) -> dict[str, bool]:
        """The arguments of `aliases.add` and `aliases.change`."""
        shows = self.cleaned_data["shows"]
        return {"redirects": shows == Shows.REDIRECT, "has_own_profile": shows == Shows.OWN}


class AliasAddForm(AliasChangeForm):
    name = forms.CharField(
        max_length=MAX_NAME_LENGTH,
        validators=[username_validator, validate_available],
        label="Name",
        help_text="1 to 32 letters, digits and . _ -; names of other people are taken.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    field_order = ("name", "shows")


class AliasConfirmForm(AliasChangeForm):
    """Carries the choice through the page that asks once more."""

    shows = forms.ChoiceField(choices=Shows.choices, widget=forms.HiddenInput)
    confirmed = forms.BooleanField(widget=forms.HiddenInput)
