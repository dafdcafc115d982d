"""What people fill in to make a folder, and to change one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models

from dashboard import versions
from dashboard.versions import VersionField
from imagehost import names
from imagehost.folders import Changes
from imagehost.models import Folder


class Visibility(models.TextChoices):
    """Who can open a folder's page."""

    PRIVATE = "private", "Only me"
    PUBLIC = "public", "Everybody who has the link"
    PASSWORD = "password", "Everybody who has the link and the password"


class FolderForm(forms.Form):
    """A folder to be."""

    name = forms.CharField(
        label="Name", max_length=names.MAX_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    visibility = forms.ChoiceField(
        label="Who can open its page?",
        choices=Visibility.choices,
        initial=Visibility.PRIVATE,
        widget=forms.RadioSelect,
        help_text="A file's own link works for everybody who has it, whatever you choose here.",
    )
    password = forms.CharField(
        label="Password",
        required=False,
        strip=False,
        max_length=names.MAX_LENGTH,
        help_text="You tell it to your visitors, so it is shown while you type it. It is kept as a hash.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )
    needs_password = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any: as a form takes them."""
        super().__init__(*args, **kwargs)
        self.auto_id = "folder_%s"

    def clean_name(self) -> str:
        try:
            return names.folder_name(self.cleaned_data["name"])
        except ValueError as problem:
            raise ValidationError(str(problem)) from None

    def clean_password(self) -> str:
        try:
            return self.cleaned_data["password"] and names.folder_password(self.cleaned_data["password"])
        except ValueError as problem:
            raise ValidationError(str(problem)) from None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("visibility") == Visibility.PASSWORD:
            if self.needs_password and values.get("password") == "":
                raise ValidationError({"password": f"Type a password of 1 to {names.MAX_LENGTH} characters."})
        elif values.get("password"):
            raise ValidationError({"password": "Choose above that the page asks for it, or leave this empty."})
        return values

    def changes(self) -> Changes:
        """Of a valid form."""
        values = self.cleaned_data
        return Changes(
            name=values["name"],
            is_public=values["visibility"] != Visibility.PRIVATE,
            is_password_enabled=values["visibility"] == Visibility.PASSWORD,
            password=values["password"] or None,
        )


class EditFolderForm(FolderForm):
    """Another shape of a folder that there is."""

    version = VersionField()

    def __init__(self, *args: Any, folder: Folder, **kwargs: Any) -> None:
        """Any: as a form takes them."""
        super().__init__(*args, initial=initial_of(folder), **kwargs)
        self.needs_password = not folder.is_password_enabled
        if folder.is_password_enabled:
            self.fields["password"].label = "New password"
            self.fields["password"].help_text = "Empty: the password stays as it is. It is kept as a hash."


def initial_of(folder: Folder) -> dict[str, str]:
    """What the form shows of a folder."""
    if folder.is_password_enabled:
        visibility = Visibility.PASSWORD
    else:
        visibility = Visibility.PUBLIC if folder.is_public else Visibility.PRIVATE
    return {"name": folder.name, "visibility": visibility, "version": versions.of(folder.updated_at)}
