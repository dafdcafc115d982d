"""Forms of sections: what all types share, and a field for each part of the configuration that is edited there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import Model

from dashboard.profile.content_forms import RowForm, Words
from dashboard.profile.row_fields import CommaListField
from infrastructure.text_rules import validate_line, validate_text
from lookup.documents import registry
from lookup.models import Profile, Section
from lookup.page.sections import GROUP_NAMES
from lookup.shapes import sections
from lookup.shapes.sections import SKILL_GROUPS, SKILL_NAMES, Choice, Field, RowIds
from lookup.shapes.strict_fields import Boolean, Text


class ChosenRows(forms.MultipleChoiceField):
    """Checkboxes for rows of the profile. Rows chosen before keep their order; new ones follow."""

    widget = forms.CheckboxSelectMultiple

    def in_order(self, chosen: Sequence[str], before: Sequence[str]) -> list[str]:
        return [*(pk for pk in before if pk in chosen), *(pk for pk in chosen if pk not in before)]


class SectionForm(RowForm):
    """`hint`: what to do on another page for the section."""

    content = registry.SECTIONS
    words = Words(
        "The parts of your page, one below the other.",
        "Your page has no sections yet. Add one, for example “About me”.",
    )

    class Meta:
        model = Section
        fields = ("title", "description", "alignment")
        help_texts = {"title": "Empty: the name of its type."}
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, profile: Profile, **kwargs: Any) -> None:
        super().__init__(*args, profile=profile, **kwargs)
        definition = sections.DEFINITIONS[self.instance.type]
        self.hint = definition.hint
        self.parts = definition.config
        for key, part in self.parts.items():
            name = _name_of(key, part)
            if (field := _field_of(part, profile)) is not None:
                self.fields[name] = field
                self.initial[name] = self.config.get(key, part.default)
        for group in SKILL_GROUPS if "skills" in self.parts else ():
            label = f"Skills: {GROUP_NAMES[group].lower()}"
            self.fields[group] = CommaListField(SKILL_NAMES, label=label, help_text="With commas between them.")
            self.initial[group] = self._skills().get(group, [])

    def _skills(self) -> dict[str, Any]:
        stored = self.config.get("skills", {})
        return stored if isinstance(stored, dict) else {}

    def config_values(self) -> dict[str, Any]:
        """Return the parts of the configuration that the form holds."""
        values: dict[str, Any] = {}
        for key, part in self.parts.items():
            name = _name_of(key, part)
            field = self.fields.get(name)
            if isinstance(field, ChosenRows):
                values[key] = field.in_order(self.cleaned_data[name], self.config.get(key, []))
            elif field is not None:
                values[key] = self.cleaned_data[name]
            elif isinstance(part.shape, RowIds):
                values[key] = []  # the profile has no such rows
        if "skills" in self.parts:
            groups = {group: self.cleaned_data[group] for group in SKILL_GROUPS}
            values["skills"] = {**groups, "custom": self._skills().get("custom", [])}
        return values

    def column_values(self) -> dict[str, Any]:
        values = {**super().column_values(), "config": {**self.config, **self.config_values()}}
        return {**values, "type": self.instance.type} if self.is_new else values

    @property
    def config(self) -> dict[str, Any]:
        """Return the configuration as it is stored."""
        stored = self.instance.config
        return stored if isinstance(stored, dict) else {}


# The form of each model whose rows are in a list of the profile.
FORMS: dict[type[Model], type[RowForm]] = {form._meta.model: form for form in RowForm.__subclasses__()}


def _name_of(key: str, part: Field) -> str:
    """Return the name of the field of the form for this key of the configuration."""
    if isinstance(part.shape, RowIds):
        return part.shape.include
    return part.input_name or key


def _field_of(part: Field, profile: Profile) -> forms.Field | None:
    """Return the field; None: nothing to choose from, or another page edits the part: skills, entries of catalogues."""
    match part.shape:
        case Boolean():
            return forms.BooleanField(label=part.label, required=False)
        case Choice(options=options):
            return forms.ChoiceField(label=part.label, choices=options.choices)
        case Text(max_length=most, is_long=is_long):
            return forms.CharField(
                label=part.label,
                max_length=most,
                required=False,
                validators=[validate_text if is_long else validate_line],
                widget=forms.Textarea(attrs={"rows": 10}) if is_long else forms.TextInput(),
            )
        case RowIds(include=include):
            rows = [(row.pk, str(row)) for row in registry.LISTS[include].rows_of(profile.pk)]
            label = f"{include.capitalize()} in this section"
            return ChosenRows(label=label, choices=rows, required=False) if rows else None
    return None


class SkillForm(forms.Form):
    """A custom skill, with an icon."""

    label = forms.CharField(max_length=64, label="Skill")
    icon_name = forms.CharField(max_length=64, required=False, label="Name of an icon")
    icon_svg = forms.CharField(
        required=False,
        label="SVG",
        help_text="The code of a drawing, up to 20 KB.",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )


class SearchForm(forms.Form):
    """Search for a row of a catalogue by a part of its name."""

    q = forms.CharField(
        min_length=2,
        max_length=100,
        label="Name",
        help_text="At least two characters of it.",
        error_messages={"required": "Write what to look for."},
    )
