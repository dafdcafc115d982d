"""Fields of the forms of rows: stored files, lists of short texts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.profile.forms import UploadField
from lookup.editing.uploads import Kind
from lookup.models import Asset
from lookup.page import url_policy
from lookup.shapes import addresses
from lookup.shapes.strict_fields import TextList


class StoredFile:
    """The stored file of a row, as the widget shows it."""

    def __init__(self, asset: Asset) -> None:
        self.url = url_policy.on_page(addresses.upload(asset.path))
        self.name = asset.path.rpartition("/")[2]
        self.is_image = asset.mime.startswith("image/")

    def __str__(self) -> str:
        return self.name


class StoredFileInput(forms.ClearableFileInput):
    """The stored file, a box that removes it, and the input for another file."""

    template_name = "dashboard/profile_content/widgets/stored_file.html"


class AssetField(UploadField):
    """A file of a row. Cleans to an upload to store, False to remove the stored file, or the `StoredFile` to keep."""

    input = StoredFileInput

    def __init__(self, kind: Kind, *, label: str, required: bool = False) -> None:
        super().__init__(kind, label=label, required=required)

    def clean(self, data: Any, initial: Any = None) -> Any:
        return super().clean(data, initial) if data else forms.FileField.clean(self, data, initial)


class CommaListField(forms.CharField):
    """Short texts separated by commas. Cleans to a list without duplicates."""

    def __init__(self, rule: TextList, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.rule = rule

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)

    def clean(self, value: Any) -> list[str]:
        typed = (part.strip() for part in str(super().clean(value)).split(","))
        texts = list(dict.fromkeys(filter(None, typed)))
        if problem := self.rule.problem_of(texts):
            raise ValidationError(problem)
        return texts
