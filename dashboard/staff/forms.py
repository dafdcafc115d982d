"""The forms of staff pages."""

from __future__ import annotations

from django import forms

from dashboard.access_requests import MAX_REASON
from dashboard.forms import Filter
from dashboard.models import AccessRequest
from dashboard.staff.queries import AppState, FileState, Standing
from lookup.models import Report

_NO_PRESET = "none"
ALL_STATES = "ALL"


class ReasonForm(forms.Form):
    """The reason for an action: one of `presets`, free text, or both. `hint` says who reads it."""

    preset = forms.ChoiceField(label="Reason", required=False, initial=_NO_PRESET, widget=forms.RadioSelect)

    def __init__(
        self,
        *args: object,
        hint: str,
        is_required: bool = True,
        presets: tuple[str, ...] = (),
        most: int = MAX_REASON,
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on as they come
        self.is_required, self.most = is_required, most
        self.fields["reason"] = text = forms.CharField(max_length=most, widget=forms.Textarea(attrs={"rows": 4}))
        text.help_text = hint
        text.required = is_required and not presets
        if presets:
            other = "In my own words" if is_required else "None, or in my own words"
            self.fields["preset"].choices = [*((one, one) for one in presets), (_NO_PRESET, other)]  # type: ignore[attr-defined]  # of a choice field
            text.label = "In your own words"
            if is_required:
                text.needed_when = "needed without a reason from the list"  # type: ignore[attr-defined]  # read by the template of fields
        else:
            del self.fields["preset"]

    def clean(self) -> dict[str, str]:
        """Return the values. `reason`: the preset and the text after it."""
        cleaned = super().clean() or {}
        chosen = cleaned.pop("preset", "")
        preset = "" if chosen == _NO_PRESET else chosen
        if "reason" not in cleaned:
            return cleaned
        cleaned["reason"] = f"{preset} {cleaned['reason']}".strip()
        if self.is_required and not cleaned["reason"]:
            self.add_error("reason", "Choose a reason, or write one.")
        elif len(cleaned["reason"]) > self.most:
            self.add_error("reason", f"With the reason that you chose, at most {self.most} characters.")
        return cleaned


class QueueFilter(Filter):
    """Without a state: pending requests."""

    _states = {**dict(AccessRequest.State.choices), AccessRequest.State.PENDING.value: "Waiting", ALL_STATES: "All"}
    state = forms.ChoiceField(choices=[*_states.items()], required=False)
    kind = forms.ChoiceField(choices=[("", "All"), *AccessRequest.Kind.choices], required=False)

    def chosen(self) -> dict[str, str]:
        given = super().chosen()
        return {**given, "state": given["state"] or AccessRequest.State.PENDING.value}


class ReportFilter(Filter):
    """Without a state: reports that wait."""

    DECIDED = "DECIDED"
    state = forms.ChoiceField(choices=[("", "Waiting"), (DECIDED, "Decided")], required=False)
    kind = forms.ChoiceField(choices=[("", "All"), *Report.Kind.choices], required=False)
    reason = forms.ChoiceField(choices=[("", "All"), *Report.Reason.choices], required=False)


class FileSearch(Filter):
    """Files by their own name or address, or by their owner."""

    q = forms.CharField(
        label="Search",
        max_length=255,
        required=False,
        help_text="Name or address of a file, the beginning of the name that it was uploaded with, or its owner.",
    )
    state = forms.ChoiceField(choices=[("", "All"), *FileState.choices], required=False)


class Search(Filter):
    """A term, which may be the email address of a person only `with_email`; the field says so."""

    explanation = ""
    q = forms.CharField(label="Search", max_length=255, required=False)

    def __init__(self, *args: object, with_email: bool, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on as they come
        called = "username, alias, display name, address of the profile, uid, id, chat id"
        self.fields["q"].help_text = f"{self.explanation}{called}{', email' if with_email else ''}."


class AppSearch(Search):
    explanation = "Client id or name of the app; of its owner: "
    state = forms.ChoiceField(choices=[("", "All"), *AppState.choices], required=False)


class PeopleSearch(Search):
    explanation = "By "
    standing = forms.ChoiceField(choices=[("", "All"), *Standing.choices], required=False)
