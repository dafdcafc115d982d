"""The form of a report."""

from __future__ import annotations

from typing import Any

from django import forms

from lookup.models import Report
from lookup.models.social import MAX_REPORT
from lookup.social import reports


class ReportForm(forms.Form):
    """`back`: the path that the visitor came from."""

    back = forms.CharField(widget=forms.HiddenInput, required=False, max_length=2048)
    reason = forms.ChoiceField(
        label="What is wrong?",
        choices=Report.Reason.choices,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose a reason."},
    )
    text = forms.CharField(
        label="Details",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "maxlength": MAX_REPORT}),
        help_text=f"At most {MAX_REPORT} characters.",
    )
    text.needed_when = "needed for “Something else”"  # type: ignore[attr-defined]  # read by the template of fields

    def clean(self) -> dict[str, Any]:
        """Count a line break, which browsers send as two characters, as one. Any: of the form's fields."""
        given = self.cleaned_data
        if "text" in given:
            try:
                text = given["text"].replace("\r\n", "\n")
                given["text"] = reports.validated(text, reason=given.get("reason", ""))
            except forms.ValidationError as problem:
                self.add_error("text", problem)
        return given
