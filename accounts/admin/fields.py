"""Form fields of the admin that answer any input with a validation error, where Django's own raise."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput

from infrastructure import text_rules


class RowField(forms.ModelChoiceField[Any]):
    """Refuses keys at which PostgreSQL raises."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and text_rules.find_unstorable(value):
            raise ValidationError(self.error_messages["invalid_choice"], code="invalid_choice")
        return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return None if isinstance(data, str) and text_rules.find_unstorable(data) else super().bound_data(data, initial)


class JsonField(forms.JSONField):
    """Refuses numbers, depths and unpaired surrogates that Django's field takes and that the page cannot show."""

    def to_python(self, value: Any) -> Any:
        try:
            return _readable(super().to_python(value))
        except (ValueError, RecursionError) as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": "…"}) from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return _readable(super().bound_data(data, initial))
        except (ValueError, RecursionError):
            return InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        """Return indented JSON, or the text that is none."""
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2)


def _readable(value: Any) -> Any:
    """Return the JSON value unchanged; ValueError where it cannot be encoded as UTF-8."""
    if text_rules.find_unstorable(json.dumps(value, ensure_ascii=False)):  # NUL characters are escaped there
        raise ValueError("unpaired surrogate")
    return value
