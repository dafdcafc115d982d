"""What people fill in to make a folder rule, to change one, and to ask where a file would go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.versions import CHANGED
from imagehost import media
from imagehost.models import Folder, FolderRule, MatchKind
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


class EditRuleForm(RuleForm):
    """Another shape of a rule that there is. `version`: of what the form showed, as `version_of`."""

    version = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, rule: FolderRule, **kwargs: Any) -> None:
        """Any: as a form takes them."""
        shown = {"kind": rule.kind, "pattern": rule.pattern, "folder_id": rule.folder_id, "version": version_of(rule)}
        super().__init__(*args, initial=shown, **kwargs)

    def check_version(self, held: FolderRule) -> None:
        """ValidationError where the rule says something else than the form showed."""
        if self.cleaned_data["version"] != version_of(held):
            raise ValidationError(CHANGED, code="changed")


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


class MoveForm(forms.Form):
    """How many places up (negative) or down."""

    places = forms.IntegerField(min_value=-1000, max_value=1000)


def version_of(rule: FolderRule) -> str:
    """A print of what the rule says: rules carry no time of their last change."""
    return hashlib.sha256(f"{rule.kind}\n{rule.folder_id}\n{rule.pattern}".encode()).hexdigest()
