"""What the forms of the admin share: files of the profile's user alone, and errors by path as sentences."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from lookup.models import Asset


class ContentForm(forms.ModelForm[Any]):
    """Any: rows of a profile. Files belong to the profile's user, and of `never_both` at most one is given."""

    never_both: tuple[str, ...] = ()

    def owner_id(self) -> str | None:
        """Whose files the row may show."""
        profile = self.cleaned_data.get("profile")
        return profile.user_id if profile else None

    def clean(self) -> dict[str, Any]:
        super().clean()
        owner_id = self.owner_id()
        for name, value in list(self.cleaned_data.items()):
            if isinstance(value, Asset) and owner_id is not None and value.owner_id != owner_id:
                self.add_error(name, "This file belongs to another user.")
        if self.never_both and all(self.cleaned_data.get(name) for name in self.never_both):
            self.add_error(self.never_both[-1], "Give one of the two, not both.")
        return self.cleaned_data


def by_path(error: ValidationError) -> ValidationError:
    """Problems by path, such as `cardSettings.blur`, as sentences of one field."""
    return ValidationError(
        [f"{path}: {sentence}" for path, sentences in error.message_dict.items() for sentence in sentences]
    )
