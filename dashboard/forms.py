"""Confirm an operation, run it, and show why it was refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from infrastructure.requests.errors import sentences

# Arguments of operations whose form fields have other names.
_FIELDS = {"expires_at": "ends_on", "permission": "requested"}


class Filter(forms.Form):
    """Filters in the query of a page. Invalid values are ignored."""

    def chosen(self) -> dict[str, str]:
        """Return the value of each field, or the empty text."""
        self.full_clean()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}


def show_error(form: forms.BaseForm, error: ValidationError) -> None:
    """Add the error to its field, or above the form."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for argument, errors in error.error_dict.items():
        names = (argument, _FIELDS.get(argument, ""))
        form.add_error(next((name for name in names if name in form.fields), None), errors)


def is_done(form: forms.BaseForm, operation: Callable[[], object]) -> bool:
    """Run the operation of a valid form. Return False if the form has errors, of its own or of the operation."""
    if not form.is_valid():
        return False
    try:
        operation()
    except ValidationError as error:
        show_error(form, error)
        return False
    return True


def with_error_message(request: HttpRequest, success: str, operation: Callable[[], object]) -> None:
    """Run the operation; the next page shows `success` or the error."""
    try:
        operation()
    except ValidationError as error:
        messages.error(request, sentences(error))
    else:
        messages.success(request, success)


def confirm(
    request: HttpRequest,
    title: str,
    effects: Sequence[str],
    button: str,
    *,
    back_url: str,
    template: str = "dashboard/confirm.html",
    **context: object,
) -> HttpResponse:
    """Return the page that asks before the operation. `effects`: sentences of what it does. `context`: `form`, further
    fields; `is_harmless`, for a button without a warning."""
    names = {"title": title, "effects": effects, "button": button, "back_url": back_url}
    return render(request, template, {**names, **context})
