"""What the forms of all rows share: version, files, and that the operation has the last word."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import User
from dashboard import media, versions
from dashboard.forms.profile_content.fields import AssetField, StoredFile
from dashboard.versions import VersionField
from lookup import content, uploads
from lookup.content import ContentList
from lookup.models import Profile


class RowForm(forms.ModelForm[Any]):
    """Any: a row of a profile's list; `instance` is the row, or a new one without an id in the database.

    Fields bear the names of their columns. Of `never_both`, at most one is given.
    """

    content: ClassVar[ContentList]
    never_both: ClassVar[tuple[str, ...]] = ()
    version = VersionField()

    def __init__(self, *args: Any, profile: Profile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile = profile
        self.is_new = self.instance._state.adding
        if self.is_new:
            del self.fields["version"]
            return
        self.initial["version"] = content.version_of(self.instance)
        for name in self.asset_fields:
            if asset := getattr(self.instance, name):
                self.initial[name] = StoredFile(asset)

    @property
    def asset_fields(self) -> list[str]:
        return [name for name, field in self.fields.items() if isinstance(field, AssetField)]

    def clean(self) -> dict[str, Any]:
        super().clean()
        if self.never_both and all(self.cleaned_data.get(name) for name in self.never_both):
            self.add_error(self.never_both[-1], self._not_both())
        return self.cleaned_data

    def _not_both(self) -> str:
        for name in self.never_both:
            if isinstance(self.cleaned_data[name], StoredFile):
                return "Tick “Remove” at the file to use this instead: one of the two, not both."
        return "Give one of the two, not both: empty this, or choose no file."

    def _post_clean(self) -> None:
        """The rules of the columns, by field. The instance stays as it is: operations write a row of their own."""
        row = copy.copy(self.instance)
        given = [name for name in self._meta.fields or () if name in self.cleaned_data]
        for name in given:
            setattr(row, name, self.cleaned_data[name])
        try:
            row.clean_fields(exclude={field.name for field in row._meta.fields} - set(given))
        except ValidationError as refusal:
            self.tell(refusal)

    def column_values(self) -> dict[str, Any]:
        """What the row is to hold, files aside. Any: of whatever type the column is."""
        return {name: self.cleaned_data[name] for name in self._meta.fields or ()}

    def write(self, *, by: User) -> bool:
        """Save the row, which is `instance` then. False: it was refused, and the form says why. ObjectDoesNotExist:
        it has been deleted meanwhile."""
        stored: dict[str, Any] = {}
        try:
            self._store_files(stored, by)
            values = self.column_values() | stored
            if self.is_new:
                self.instance = content.add(content=self.content, profile=self.profile, values=values, by=by)
            else:
                seen = self.cleaned_data["version"]
                self.instance = content.change(
                    content=self.content, profile=self.profile, pk=self.instance.pk, values=values, seen=seen, by=by
                )
        except content.Outdated:
            self.add_error(None, versions.CHANGED)
        except ValidationError as refusal:
            self.tell(refusal)
        if self.errors:
            uploads.release(*(asset.pk for asset in stored.values() if asset is not None))
        return not self.errors

    def _store_files(self, stored: dict[str, Any], by: User) -> None:
        """Fill `stored`, by column, with what was made of each file that was chosen, and None for one that is taken
        away. ValidationError by field."""
        for name in self.asset_fields:
            field, given = self.fields[name], self.cleaned_data[name]
            if given is False:
                stored[name] = None
            elif given and not isinstance(given, StoredFile) and isinstance(field, AssetField):
                try:
                    stored[name] = media.store(user=self.profile.user, kind=field.kind, upload=given, by=by)
                except ValidationError as refusal:
                    raise ValidationError({name: refusal}) from refusal

    def tell(self, refusal: ValidationError) -> None:
        """Show an operation's sentences at the fields they are about, and those about no field above all of them."""
        if not hasattr(refusal, "error_dict"):
            self.add_error(None, refusal)
            return
        for path, problems in refusal.error_dict.items():
            field = self._field_of(path.split("."))
            self.add_error(
                field, problems if field or path == "__all__" else [f"{path}: {text}" for text in _texts(problems)]
            )

    def _field_of(self, path: Iterable[str]) -> str | None:
        """The last part of the path that is a field."""
        return next((part for part in reversed(list(path)) if part in self.fields), None)


def _texts(problems: Iterable[ValidationError]) -> list[str]:
    return [text for problem in problems for text in problem.messages]
