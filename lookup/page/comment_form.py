"""The form of a comment or a reply."""

from __future__ import annotations

from django import forms

from accounts.models import User
from accounts.models.users import new_id
from lookup.social import comments


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
        """Count a line break, which browsers count as one character but send as two, as one."""
        content: str = self.cleaned_data["content"].replace("\r\n", "\n")
        return content if self._by is None else comments.validated(content, by=self._by)
