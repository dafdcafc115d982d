"""Fields that several of these forms have: a stored file that can be replaced, a list in one line."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.forms.uploads import UploadField
from lookup import addresses
from lookup.models import Asset
from lookup.page import places
from lookup.uploads import Kind
from lookup.values import TextList


class StoredFile:
    """What a row has now, as the widget shows it."""

    def __init__(self, asset: Asset) -> None:
        self.url = places.on_page(addresses.upload(asset.path))
        self.name = asset.path.rpartition("/")[2]
        self.is_image = asset.mime.startswith("image/")

    def __str__(self) -> str:
        return self.name


class StoredFileInput(forms.ClearableFileInput):
    """The file of now, a box that removes it, and the input for another one."""

    template_name = "dashboard/profile_content/widgets/stored_file.html"


class AssetField(UploadField):
    """A file of a row: an upload to store, False to take the stored one away, or the `StoredFile` that stays."""

    def __init__(self, kind: Kind, *, label: str, required: bool = False) -> None:
        super().__init__(kind, label=label, required=required)
        self.widget = StoredFileInput(self.widget.attrs)
        self.widget.is_required = required

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Any: an uploaded file, False, or nothing; and one of the three."""
        return super().clean(data, initial) if data else forms.FileField.clean(self, data, initial)


class CommaListField(forms.CharField):
    """Short texts with commas between them; the value is the list, each text once."""

    def __init__(self, rule: TextList, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.rule = rule

    def prepare_value(self, value: Any) -> Any:
        """Any: a list, or what was typed."""
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        """Any: what was typed."""
        typed = (part.strip() for part in str(super().clean(value)).split(","))
        texts = list(dict.fromkeys(filter(None, typed)))
        if problem := self.rule.problem_of(texts):
            raise ValidationError(problem)
        return texts
