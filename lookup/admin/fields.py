"""What the forms of the admin share: JSON that never breaks the page, and files of nobody else."""

from __future__ import annotations

import json
import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput

from lookup.models import Asset

_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonField(forms.JSONField):
    """Says of numbers, nestings and halves of characters that no reader takes that they are no JSON, where Django's own
    raises or the page could not be sent."""

    def to_python(self, value: Any) -> Any:
        """Any: a JSON value."""
        try:
            return _readable(super().to_python(value))
        except (ValueError, RecursionError) as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": "…"}) from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Any: a JSON value, or the text that is none."""
        try:
            return _readable(super().bound_data(data, initial))
        except (ValueError, RecursionError):
            return InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        """Readable; any: a JSON value."""
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2)


def _readable(value: Any) -> Any:
    """The same JSON value. ValueError where it cannot be written in UTF-8."""
    if _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise ValueError("half of a surrogate pair")
    return value


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
