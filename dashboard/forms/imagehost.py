"""What people fill in to find files of theirs, and to choose some."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from imagehost import media
from imagehost.listing import MAX_LIMIT, Wanted
from imagehost.models import Folder

ROOT = "root"
_KINDS = (
    ("", "Any type"),
    ("image", "Pictures"),
    ("video", "Videos"),
    *((type_.mime, type_.extension.upper()) for type_ in media.ALL),
)


class FilterForm(forms.Form):
    """Which files to show, in the page's query. `with_folder` False: the page is one folder's."""

    q = forms.CharField(label="Name or link", required=False, max_length=255, widget=forms.SearchInput)
    folder = forms.ChoiceField(label="Folder", required=False)
    kind = forms.ChoiceField(label="Type", required=False, choices=_KINDS)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    favorites = forms.BooleanField(label="Favourites only", required=False)

    def __init__(self, *args: Any, folders: Iterable[Folder], with_folder: bool = True, **kwargs: Any) -> None:
        """Any: as a form takes them."""
        super().__init__(*args, **kwargs)
        self.auto_id = "filter_%s"
        if with_folder:
            choices = [("", "Any folder"), (ROOT, "In no folder"), *((folder.pk, folder.name) for folder in folders)]
            self.fields["folder"] = forms.ChoiceField(label="Folder", required=False, choices=choices)
        else:
            del self.fields["folder"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        since, until = values.get("since"), values.get("until")
        if since and until and until < since:
            raise ValidationError({"until": "This day is before the first one."})
        return values

    def wanted(self, folder_id: str | None = None) -> Wanted:
        """For `listing.search`; of a form with errors, all files. `folder_id`: the one folder of the page."""
        if not self.is_valid():
            return Wanted(folder_id=folder_id)
        values = self.cleaned_data
        chosen = values.get("folder") or None
        return Wanted(
            text=values["q"],
            folder_id=folder_id if chosen is None else "" if chosen == ROOT else chosen,
            kind=values["kind"],
            is_favorite=values["favorites"],
            since=_midnight(values["since"], 0),
            until=_midnight(values["until"], 1),
        )


class SelectionForm(forms.Form):
    """Files that were chosen, by their names."""

    file = forms.Field(widget=forms.MultipleHiddenInput)

    def clean_file(self) -> list[str]:
        names = [str(name) for name in self.cleaned_data["file"]]
        if len(names) > MAX_LIMIT:
            raise ValidationError(f"Choose at most {MAX_LIMIT} files at a time.")
        return names


def _midnight(day: Any, later: int) -> datetime | None:
    """Any: a date, or None. The first moment of the day that is `later` days after it."""
    if day is None:
        return None
    try:
        return timezone.make_aware(datetime.combine(day, time.min) + timedelta(days=later))
    except OverflowError:  # the last day that there is
        return None
