"""Optimistic locking of edit forms: a form carries the moment of the row that it shows, and a later row refuses it."""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.core.exceptions import ValidationError

CHANGED = (
    "Somebody changed this while you edited it. Below is what you typed; open the page again to see what it says now."
)


def of(moment: datetime) -> str:
    """The version that stands in a form, for a row that was last changed at `moment`."""
    return str(int(moment.timestamp() * 1_000_000))


def check(given: str, moment: datetime) -> None:
    """ValidationError where the row has changed since the form was made."""
    if given != of(moment):
        raise ValidationError(CHANGED, code="changed")


class VersionField(forms.CharField):
    """The hidden field of an edit form: `version = VersionField()`, with `initial={"version": versions.of(...)}`."""

    widget = forms.HiddenInput

    def __init__(self) -> None:
        super().__init__(max_length=20)
