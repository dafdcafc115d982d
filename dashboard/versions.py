"""Optimistic locking of edit forms: a form carries the timestamp of its row, and is refused when that has changed."""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.core.exceptions import ValidationError

CHANGED = "This was changed while you edited it. Your input is below; open the page again to see the current values."


def of(changed_at: datetime) -> str:
    """Return the version for a form of a row that was last changed at `changed_at`."""
    return str(int(changed_at.timestamp() * 1_000_000))


def check(given: str, changed_at: datetime) -> None:
    """Raise ValidationError where the row has changed since the form was made."""
    if given != of(changed_at):
        raise ValidationError(CHANGED, code="changed")


class VersionField(forms.CharField):
    """The hidden field of an edit form: `version = VersionField()`, with `initial={"version": versions.of(...)}`."""

    widget = forms.HiddenInput

    def __init__(self) -> None:
        super().__init__(max_length=20)
