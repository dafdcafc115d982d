"""The forms of visitors: a comment or a reply, and a report.

Browsers count a line break as one character but send it as two: both forms count one.
"""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.models import User
from accounts.models.users import new_id
from lookup.models import Report
from lookup.models.social import MAX_REPORT
from lookup.social import comments, reports


class CommentForm(forms.Form):
    """`pk`: the id of the new comment, so that sending it twice makes one. `status` and `seconds_left`: of the answer
    that shows the form again."""

    status = 200
    seconds_left = 0

    pk = forms.RegexField(r"\A[0-9a-f]{32}\Z", max_length=32, widget=forms.HiddenInput, initial=new_id)
    content = forms.CharField(
        label="Comment",
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": comments.MAX_LENGTH}),
        error_messages={"required": comments.LENGTH_RULE},
    )

    def __init__(self, *args: object, by: User | None = None, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # Django's own
        self._by = by

    def clean_content(self) -> str:
        content: str = self.cleaned_data["content"].replace("\r\n", "\n")
        return content if self._by is None else comments.validated(content, by=self._by)


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
        """Any: of the form's fields."""
        given = self.cleaned_data
        if "text" in given:
            try:
                text = given["text"].replace("\r\n", "\n")
                given["text"] = reports.validated(text, reason=given.get("reason", ""))
            except forms.ValidationError as problem:
                self.add_error("text", problem)
        return given
