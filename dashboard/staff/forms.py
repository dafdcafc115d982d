"""The forms of staff pages."""

from __future__ import annotations

from django import forms
from django.db.models import TextChoices

from dashboard.access_requests import MAX_REASON
from dashboard.models import AccessRequest
from dashboard.staff.queries import AppState, Standing


class ReasonForm(forms.Form):
    """The reason for an action. `hint` says who reads it."""

    reason = forms.CharField(max_length=MAX_REASON, widget=forms.Textarea(attrs={"rows": 4}))

    def __init__(self, *args: object, hint: str, is_required: bool = True, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on as they come
        self.fields["reason"].help_text = hint
        self.fields["reason"].required = is_required


class QueueState(TextChoices):
    """`AccessRequest.State`, and all of them together."""

    PENDING = AccessRequest.State.PENDING.value, "Waiting"
    GRANTED = AccessRequest.State.GRANTED.value, "Granted"
    DENIED = AccessRequest.State.DENIED.value, "Denied"
    WITHDRAWN = AccessRequest.State.WITHDRAWN.value, "Withdrawn"
    ALL = "ALL", "All"


class Filter(forms.Form):
    """Filters in the query of a page. Invalid values are ignored."""

    def chosen(self) -> dict[str, str]:
        """Each field's value, or the empty text."""
        self.full_clean()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}


class QueueFilter(Filter):
    """Without a state: pending requests."""

    state = forms.ChoiceField(choices=QueueState.choices, required=False)
    kind = forms.ChoiceField(choices=[("", "All"), *AccessRequest.Kind.choices], required=False)

    def chosen(self) -> dict[str, str]:
        given = super().chosen()
        return {**given, "state": given["state"] or QueueState.PENDING.value}


class Search(Filter):
    """A term, which may be the e-mail address of a person only `with_email`; the field says so."""

    explanation = ""
    q = forms.CharField(label="Search", max_length=255, required=False)

    def __init__(self, *args: object, with_email: bool, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on as they come
        called = ["username", "alias", "uid", "id", "chat id", *(["email"] if with_email else [])]
        self.fields["q"].help_text = f"{self.explanation}{', '.join(called)}."


class AppSearch(Search):
    explanation = "Client id or name of the app; of its owner: "
    state = forms.ChoiceField(choices=[("", "All"), *AppState.choices], required=False)


class PeopleSearch(Search):
    explanation = "By "
    standing = forms.ChoiceField(choices=[("", "All"), *Standing.choices], required=False)
