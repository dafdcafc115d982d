"""The forms of API keys."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import TextChoices
from django.utils import timezone

from accounts.api_keys import keys
from accounts.models import ApiKey, Permission
from dashboard import versions
from dashboard.access_requests import BY_REQUEST, MAX_REASON, SELF_SERVED
from dashboard.api_keys import queries

LONGEST_DAYS = 365


class End(TextChoices):
    """When a key ends."""

    DAYS_30 = "30", "In 30 days"
    DAYS_90 = "90", "In 90 days"
    DAYS_365 = "365", "In a year"
    DATE = "date", "On a date"
    NEVER = "never", "Never"


KEEP = "keep"


class Overlap(TextChoices):
    """How long a replaced key stays valid: hours."""

    NONE = "0", "It stops at once"
    HOUR = "1", "It works for 1 more hour"
    DAY = "24", "It works for 24 more hours"


def _origins_field() -> forms.CharField:
    return forms.CharField(
        label="Origins",
        required=False,
        max_length=keys.MAX_ORIGINS_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "none", "spellcheck": "false"}),
        help_text=(
            "Web pages that may follow presence with a short-lived token of the key, one on each line, such as "
            f"https://www.example.org. At most {keys.MAX_ORIGINS}."
        ),
    )


def new_form_id() -> str:
    """Return an id of 32 characters, so that a form sent twice works once."""
    return secrets.token_hex(16)


def _choices(permissions: tuple[Permission, ...]) -> list[tuple[str, str]]:
    return [(name.value, name.description) for name in permissions]


def _reason_field(**options: Any) -> forms.CharField:
    return forms.CharField(
        label="What do you need it for?",
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Staff read this. Say what you build, and how often it will call.",
        **options,
    )


class EndingForm(forms.Form):
    """The two fields that say when a key ends."""

    ends = forms.ChoiceField(label="Expires", choices=End.choices, widget=forms.RadioSelect)
    ends_on = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=f"At most {LONGEST_DAYS} days from today. The key expires at the end of that day, UTC.",
    )
    ends_on.needed_when = "for “On a date”"  # type: ignore[attr-defined]  # read by the template of fields

    def clean_ends_on(self) -> datetime | None:
        """Return the last second of the day, so that every page names this day; None for another choice than a date."""
        day, ends = self.cleaned_data["ends_on"], self.cleaned_data.get("ends")
        if ends != End.DATE:
            return None
        if day is None:
            raise ValidationError("Choose the last day.")
        today = timezone.now().date()
        if day < today:
            raise ValidationError("This day has passed.")
        if day > today + timedelta(days=LONGEST_DAYS):
            raise ValidationError(f"Choose a day within the next {LONGEST_DAYS} days, or choose “Never”.")
        return datetime.combine(day, time(23, 59, 59), UTC)

    def ends_at(self) -> datetime | None:
        """Return the end that a valid form sets; None: never."""
        ends = self.cleaned_data["ends"]
        if ends == End.DATE:
            ends_on: datetime = self.cleaned_data["ends_on"]
            return ends_on
        return None if ends == End.NEVER else timezone.now() + timedelta(days=int(ends))


class NewKeyForm(EndingForm):
    name = forms.CharField(max_length=64, help_text="A name to recognize it by, such as “Server of my website”.")
    permissions = forms.MultipleChoiceField(
        label="Permissions",
        choices=_choices(SELF_SERVED),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    requested = forms.MultipleChoiceField(
        label="Permissions that need approval",
        choices=_choices(BY_REQUEST),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="The key works for these as soon as staff approve them; you get an email.",
    )
    reason = _reason_field(required=False)
    origins = _origins_field()
    reason.needed_when = "needed for permissions that need approval"  # type: ignore[attr-defined]  # read by the template of fields
    form_id = forms.RegexField(r"\A[0-9a-f]{32}\Z", max_length=32, widget=forms.HiddenInput)

    field_order = ("name", "permissions", "requested", "reason", "ends", "ends_on", "origins", "form_id")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {"ends": End.DAYS_90, "form_id": new_form_id(), **self.initial}

    def clean(self) -> dict[str, Any]:
        super().clean()
        values = self.cleaned_data
        if "permissions" in values and "requested" in values:
            if not values["permissions"] and not values["requested"]:
                self.add_error("permissions", "Choose at least one permission.")
            if values["requested"] and "reason" in values and not values["reason"]:
                self.add_error("reason", "Write what you need it for.")
        return values

    def values(self) -> dict[str, Any]:
        """Return the arguments of `actions.make` from a valid form."""
        names = ("name", "permissions", "requested", "reason", "origins", "form_id")
        return {**{name: self.cleaned_data[name] for name in names}, "expires_at": self.ends_at()}


class KeyForm(EndingForm):
    """Name, end and origins of a stored key."""

    name = forms.CharField(max_length=64, required=False)
    origins = _origins_field()
    version = versions.VersionField()

    field_order = ("name", "ends", "ends_on", "origins", "version")

    def __init__(self, *args: Any, key: ApiKey, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = {"name": key.name, "origins": key.origins, "version": versions.of(key.changed_at)}
        self.initial = {"ends": KEEP, **stored, **self.initial}
        self.key = key
        end = f"{key.expires_at:%-d %B %Y, %H:%M} UTC" if key.expires_at else "never"
        self.fields["ends"].choices = [(KEEP, f"As it is: {end}"), *End.choices]  # type: ignore[attr-defined]  # a ChoiceField

    def values(self) -> dict[str, Any]:
        """Return the arguments of `actions.edit` from a valid form."""
        return {
            "name": self.cleaned_data["name"],
            "expires_at": self.ends_at(),
            "origins": self.cleaned_data["origins"],
            "version": self.cleaned_data["version"],
        }

    def ends_at(self) -> datetime | None:
        return self.key.expires_at if self.cleaned_data["ends"] == KEEP else super().ends_at()


class RotationForm(forms.Form):
    overlap = forms.ChoiceField(
        label="The old key", choices=Overlap.choices, widget=forms.RadioSelect, initial=Overlap.NONE
    )
    form_id = forms.RegexField(r"\A[0-9a-f]{32}\Z", max_length=32, widget=forms.HiddenInput, initial=new_form_id)

    def length(self) -> timedelta:
        """Return the overlap that a valid form sets."""
        return timedelta(hours=int(self.cleaned_data["overlap"]))


class PermissionRequestForm(forms.Form):
    """`names`: the permissions that can be requested."""

    permission = forms.ChoiceField(label="Permissions that need approval", widget=forms.RadioSelect)
    reason = _reason_field()

    def __init__(self, *args: Any, names: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(name, queries.in_words(name)) for name in names]
        self.fields["permission"].choices = choices  # type: ignore[attr-defined]  # a ChoiceField
