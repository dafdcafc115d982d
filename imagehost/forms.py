"""What people fill in on the page where they set the image host up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from imagehost import media, names
from imagehost.models import Folder, MatchKind
from imagehost.models.files import MAX_ORIGINAL_LENGTH
from imagehost.models.folders import MAX_PATTERN_LENGTH


class RuleForm(forms.Form):
    """A rule to be, in one of these folders. What a pattern may be is the operation's to say."""

    kind = forms.ChoiceField(label="Look at the", choices=MatchKind.choices, initial=MatchKind.EXTENSION)
    pattern = forms.CharField(
        label="Matches",
        max_length=MAX_PATTERN_LENGTH,
        help_text="image/png or image/*, an extension such as gif, or a file name with * and ?.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    folder_id = forms.ChoiceField(label="Goes to")

    def __init__(self, *args: Any, folders: Iterable[Folder], **kwargs: Any) -> None:
        """Any: as a form takes them."""
        super().__init__(*args, **kwargs)
        self.auto_id = "rule_%s"
        self.fields["folder_id"] = forms.ChoiceField(
            label="Goes to", choices=[(folder.pk, folder.name) for folder in folders]
        )


class TesterForm(forms.Form):
    """A file that might come."""

    name = forms.CharField(
        label="File name", max_length=MAX_ORIGINAL_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    mime = forms.ChoiceField(
        label="Type",
        required=False,
        choices=[("", "As the name's ending says"), *((type_.mime, type_.mime) for type_ in media.ALL)],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any: as a form takes them."""
        super().__init__(*args, **kwargs)
        self.auto_id = "tester_%s"


class FolderForm(forms.Form):
    """A folder to be."""

    name = forms.CharField(label="Name of a new folder", max_length=names.MAX_LENGTH)
    is_public = forms.BooleanField(label="Public: has a page that everybody can open", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any: as a form takes them."""
        super().__init__(*args, **kwargs)
        self.auto_id = "folder_%s"

    def clean_name(self) -> str:
        try:
            return names.folder_name(self.cleaned_data["name"])
        except ValueError as problem:
            raise ValidationError(str(problem)) from None
