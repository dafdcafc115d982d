"""What several forms share."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

# Arguments of operations that a form asks for under another name.
_FIELDS = {"expires_at": "ends_on", "permission": "requested"}


def show_error(form: forms.BaseForm, error: ValidationError) -> None:
    """Add the error to the form: above it, where it is of no field."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for argument, errors in error.error_dict.items():
        names = (argument, _FIELDS.get(argument, ""))
        form.add_error(next((name for name in names if name in form.fields), None), errors)
