"""The forms of the image host: finding and choosing files, folders, rules and their tester."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from dashboard import versions
from dashboard.versions import CHANGED, VersionField
from imagehost import media, names
from imagehost.folders.folders import Changes
from imagehost.folders.listing import MAX_LIMIT, FileFilters
from imagehost.models import (
    MAX_CAPTION_LENGTH,
    MAX_ORIGINAL_LENGTH,
    MAX_PATTERN_LENGTH,
    MAX_TITLE_LENGTH,
    Album,
    File,
    Folder,
    FolderRule,
    MatchKind,
)
from lookup.models.decisions import MAX_APPEAL

ROOT = "root"
_KINDS = (
    ("", "Any type"),
    ("image", "Pictures"),
    ("video", "Videos"),
    *((type_.mime, type_.extension.upper()) for type_ in media.ALL),
)


# When a file expires: as the form says it, in words, and how long it exists.
LIFETIMES: dict[str, tuple[str, timedelta | None]] = {
    "": ("Never", None),
    "1h": ("In 1 hour", timedelta(hours=1)),
    "1d": ("In 1 day", timedelta(days=1)),
    "7d": ("In 7 days", timedelta(days=7)),
    "30d": ("In 30 days", timedelta(days=30)),
}


class FormWithIds(forms.Form):
    """A form whose ids differ from the ids of another form on the page: `ids` is their pattern."""

    ids = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = self.ids


class FilterForm(FormWithIds):
    """Which files to show, in the page's query. `with_folder` False: the page is one folder's."""

    q = forms.CharField(label="Name or link", required=False, max_length=255, widget=forms.SearchInput)
    folder = forms.ChoiceField(label="Folder", required=False)
    kind = forms.ChoiceField(label="Type", required=False, choices=_KINDS)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    favorites = forms.BooleanField(label="Favorites only", required=False)
    ids = "filter_%s"

    def __init__(self, *args: Any, folders: Iterable[Folder], with_folder: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if with_folder:
            choices = [("", "Any folder"), (ROOT, "In no folder"), *((folder.pk, folder.name) for folder in folders)]
            cast("forms.ChoiceField", self.fields["folder"]).choices = choices
        else:
            del self.fields["folder"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        since, until = values.get("since"), values.get("until")
        if since and until and until < since:
            raise ValidationError({"until": "This day is before the first one."})
        return values

    def filters(self, folder_id: str | None = None) -> FileFilters:
        """Return filters for `listing.search`; with errors, none. `folder_id`: the page's only folder."""
        if not self.is_valid():
            return FileFilters(folder_id=folder_id)
        values = self.cleaned_data
        chosen = values.get("folder") or None
        return FileFilters(
            text=values["q"],
            folder_id=folder_id if chosen is None else "" if chosen == ROOT else chosen,
            kind=values["kind"],
            is_favorite=values["favorites"],
            since=_midnight(values["since"], 0),
            until=_midnight(values["until"], 1),
        )


class LifetimeForm(FormWithIds):
    """When files expire, from now on."""

    expires = forms.TypedChoiceField(
        label="Expires",
        required=False,
        choices=[(key, text) for key, (text, _) in LIFETIMES.items()],
        coerce=lambda key: LIFETIMES[key][1],
        empty_value=None,
        error_messages={"invalid_choice": "Choose from the list when the files expire."},
    )
    ids = "lifetime_%s"

    def problem(self) -> str:
        """Return the first error of a form with errors."""
        return " ".join(map(str, self.errors["expires"]))


class AlbumForm(FormWithIds):
    """A new album. The operation checks the title."""

    title = forms.CharField(
        label="Title", max_length=MAX_TITLE_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    ids = "album_%s"


class EditAlbumForm(AlbumForm):
    """A stored album."""

    version = VersionField()

    def __init__(self, *args: Any, album: Album, **kwargs: Any) -> None:
        shown = {"title": album.title, "version": versions.of(album.updated_at)}
        super().__init__(*args, initial=shown, **kwargs)


class DetailsForm(FormWithIds):
    """The name and the caption of a stored file. The operation checks both."""

    name = forms.CharField(
        label="Name", max_length=MAX_ORIGINAL_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    caption = forms.CharField(
        label="Caption",
        required=False,
        max_length=MAX_CAPTION_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown with the file on its page and in albums, and read aloud in place of a picture.",
    )
    version = forms.CharField(max_length=64, widget=forms.HiddenInput)
    ids = "details_%s"

    def __init__(self, *args: Any, file: File, **kwargs: Any) -> None:
        shown = {"name": names.shown(file.original_name, otherwise=file.file_name), "caption": file.caption}
        super().__init__(*args, initial={**shown, "version": version_of_details(file)}, **kwargs)

    def new_name(self) -> str | None:
        """Return the name of a valid form; None where it is the one that the form showed, of any characters."""
        return self.cleaned_data["name"] if "name" in self.changed_data else None

    def check_version(self, held: File) -> None:
        """Raise ValidationError if the file has changed since the form was made."""
        if self.cleaned_data["version"] != version_of_details(held):
            raise ValidationError(CHANGED, code="changed")


class SelectionForm(forms.Form):
    """The names of the selected files. `act`: what to do with them and, after a colon, a folder, an album or a time."""

    file = forms.Field(widget=forms.MultipleHiddenInput)
    act = forms.CharField(required=False, max_length=64)

    def clean_file(self) -> list[str]:
        names = [str(name) for name in self.cleaned_data["file"]]
        if len(names) > MAX_LIMIT:
            raise ValidationError(f"Choose at most {MAX_LIMIT} files at a time.")
        return names


def _midnight(day: Any, later: int) -> datetime | None:
    """Return the beginning of the date `later` days after `day`, or None."""
    if day is None:
        return None
    try:
        return timezone.make_aware(datetime.combine(day, time.min) + timedelta(days=later))
    except OverflowError:  # after the last date of Python
        return None


class Visibility(models.TextChoices):
    """Who can open a folder's page."""

    PRIVATE = "private", "Only me"
    PUBLIC = "public", "Anyone with the link"
    PASSWORD = "password", "Anyone with the link and the password"


class FolderForm(FormWithIds):
    """A new folder."""

    name = forms.CharField(
        label="Name", max_length=names.MAX_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    visibility = forms.ChoiceField(
        label="Who can open its page?",
        choices=Visibility.choices,
        initial=Visibility.PRIVATE,
        widget=forms.RadioSelect,
        help_text="A file's own link always works for anyone who has it.",
    )
    password = forms.CharField(
        label="Password",
        required=False,
        strip=False,
        max_length=names.MAX_LENGTH,
        help_text="You share it with your visitors, so it is shown while you type it. It is stored as a hash.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )
    password.needed_when = "needed for a page with a password"  # type: ignore[attr-defined]  # read by the template of fields
    needs_password = True
    ids = "folder_%s"

    def clean_name(self) -> str:
        return names.folder_name(self.cleaned_data["name"])

    def clean_password(self) -> str:
        return self.cleaned_data["password"] and names.folder_password(self.cleaned_data["password"])

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("visibility") == Visibility.PASSWORD:
            if self.needs_password and values.get("password") == "":
                raise ValidationError({"password": f"Type a password of 1 to {names.MAX_LENGTH} characters."})
        elif values.get("password"):
            raise ValidationError({"password": "Choose above that the page needs a password, or leave this empty."})
        return values

    def changes(self) -> Changes:
        """Return the changes of a valid form."""
        values = self.cleaned_data
        return Changes(
            name=values["name"],
            is_public=values["visibility"] != Visibility.PRIVATE,
            is_password_enabled=values["visibility"] == Visibility.PASSWORD,
            password=values["password"] or None,
        )


class EditFolderForm(FolderForm):
    """A stored folder."""

    version = VersionField()

    def __init__(self, *args: Any, folder: Folder, **kwargs: Any) -> None:
        of_state = {(True, True): Visibility.PASSWORD, (True, False): Visibility.PUBLIC}
        visibility = of_state.get((folder.is_public, folder.is_password_enabled), Visibility.PRIVATE)
        shown = {"name": folder.name, "visibility": visibility, "version": versions.of(folder.updated_at)}
        super().__init__(*args, initial=shown, **kwargs)
        self.needs_password = not folder.is_password_enabled
        if folder.is_password_enabled:
            self.fields[
                "visibility"
            ].help_text += " Without the password, the page of each file works for them too, also in a private folder."
            self.fields["password"].label = "New password"
            self.fields[
                "password"
            ].help_text = "Empty: keep the password. After a change visitors need the new one. It is stored as a hash."


class RuleForm(FormWithIds):
    """A new rule for one of `folders`. The operation checks the pattern."""

    kind = forms.ChoiceField(label="Look at the", choices=MatchKind.choices, initial=MatchKind.EXTENSION)
    pattern = forms.CharField(
        label="Matches",
        max_length=MAX_PATTERN_LENGTH,
        help_text=FolderRule._meta.get_field("pattern").help_text,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    folder_id = forms.ChoiceField(label="Goes to")
    ids = "rule_%s"

    def __init__(self, *args: Any, folders: Iterable[Folder], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(folder.pk, folder.name) for folder in folders]
        cast("forms.ChoiceField", self.fields["folder_id"]).choices = choices


class EditRuleForm(RuleForm):
    """A stored rule. `version`: `version_of` the rule that the form shows."""

    version = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, rule: FolderRule, **kwargs: Any) -> None:
        shown = {"kind": rule.kind, "pattern": rule.pattern, "folder_id": rule.folder_id, "version": version_of(rule)}
        super().__init__(*args, initial=shown, **kwargs)

    def check_version(self, held: FolderRule) -> None:
        """Raise ValidationError if the rule has changed since the form was made."""
        if self.cleaned_data["version"] != version_of(held):
            raise ValidationError(CHANGED, code="changed")


class TesterForm(FormWithIds):
    """An example of a file."""

    name = forms.CharField(
        label="File name", max_length=MAX_ORIGINAL_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    mime = forms.ChoiceField(
        label="Type",
        required=False,
        choices=[("", "As the name's ending says"), *((type_.mime, type_.mime) for type_ in media.ALL)],
    )
    ids = "tester_%s"


class MoveForm(forms.Form):
    """How many places up (negative) or down."""

    places = forms.IntegerField(min_value=-1000, max_value=1000)


def version_of(rule: FolderRule) -> str:
    """Return a hash of the rule, because rules have no timestamp."""
    return _hash_of(rule.kind, rule.folder_id, rule.pattern)


def version_of_details(file: File) -> str:
    """Return a hash of the file's name and caption, because files have no timestamp of their last change."""
    return _hash_of(file.original_name, file.caption)


def _hash_of(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode(errors="surrogatepass")).hexdigest()


class AppealForm(forms.Form):
    """The one appeal against a decision. Browsers count a line break as one character but send it as two."""

    text = forms.CharField(
        label="Your appeal",
        widget=forms.Textarea(attrs={"rows": 6, "maxlength": MAX_APPEAL}),
        help_text=f"At most {MAX_APPEAL:,} characters.",
    )

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        return text
