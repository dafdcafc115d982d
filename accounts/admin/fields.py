"""What the forms of the admin share."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class RowField(forms.ModelChoiceField[Any]):
    """Any: rows of a model. Asks the database for no key with a NUL, at which PostgreSQL raises."""

    def to_python(self, value: Any) -> Any:
        """Any: a key as it was sent; the row that has it."""
        if isinstance(value, str) and "\x00" in value:
            raise ValidationError(self.error_messages["invalid_choice"], code="invalid_choice")
        return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What the page shows again; any: a key as it was sent."""
        return None if isinstance(data, str) and "\x00" in data else super().bound_data(data, initial)
