"""A file with one's own data, first as an upload, then as the text that was checked."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from lookup.transfer import own

_TOO_LARGE = f"This file is too large: an export of one profile has at most {own.MAX_BYTES // 1024 // 1024} MiB."


class ImportForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="One that was exported here. Nothing changes before you have seen what is in it.",
        widget=forms.FileInput(attrs={"accept": ".json,.jsonl"}),
        error_messages={"empty": "This file is empty."},
    )

    def clean_file(self) -> str:
        """The text of the file."""
        file = self.cleaned_data["file"]
        if file.size > own.MAX_BYTES:
            raise ValidationError(_TOO_LARGE)
        try:
            return str(file.read().decode())
        except UnicodeDecodeError:
            raise ValidationError("This file is no text in UTF-8.") from None


class ConfirmForm(forms.Form):
    """The text travels with the form: nothing is kept between the two steps, and it is checked again."""

    text = forms.CharField(widget=forms.HiddenInput, max_length=own.MAX_BYTES, strip=False)

    def clean_text(self) -> Any:
        """Any: what browsers made of line breaks is undone."""
        return self.cleaned_data["text"].replace("\r\n", "\n")
