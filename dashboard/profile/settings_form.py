"""The form of the settings objects, made from the table of settings: one widget for each kind of rule, and the words
of words.toml."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

from dashboard import versions
from dashboard.profile import WORDS
from dashboard.profile.forms import ColumnsForm, SuggestInput
from dashboard.versions import VersionField
from infrastructure.text_rules import validate_line
from lookup.models import Profile
from lookup.page.colors import EFFECTS
from lookup.page.colors import FONTS as FONTS_ON_PAGE
from lookup.shapes import settings_schema, themes
from lookup.shapes.settings_schema import FIELDS, Field
from lookup.shapes.strict_fields import Boolean, Color, FlatObject, Number, Text, TextList

OBJECTS = {key: words for keys in WORDS["groups"].values() for key, words in keys.items()}
TITLES: dict[str, str] = {key: words["title"] for key, words in OBJECTS.items()}
ON_PAGE: dict[str, list[str]] = {key: words["on_page"] for key, words in OBJECTS.items() if "on_page" in words}


SUGGESTED = {"backgroundSettings.effect": EFFECTS}  # what our page shows
FONTS = {"font": ("Font of the page", "Text and titles."), "font_username": ("Font of the name", "Your name only.")}


def label_of(key: str, name: str) -> str:
    """Return the name in words: `accentColor` is "Accent color"."""
    words = re.sub(r"([A-Z])", lambda letter: f" {letter[0].lower()}", name)
    label: str | None = OBJECTS[key].get("labels", {}).get(name) or WORDS["labels"].get(name)
    return label or words[:1].upper() + words[1:]


Json = dict[str, Any]  # Any: a JSON value
MAX_LINE = 200  # characters; longer texts have several lines


class NumberField(forms.FloatField):
    """Whole numbers stay whole, as they are stored."""

    def to_python(self, value: Any) -> Any:
        number = super().to_python(value)
        return int(number) if number is not None and number.is_integer() else number


class ParagraphField(forms.CharField):
    """Browsers send the line breaks of a text as two characters each."""

    def to_python(self, value: Any) -> Any:
        return str(super().to_python(value)).replace("\r\n", "\n")


class LinesField(forms.CharField):
    """A list of texts, one on each line. Empty lines are left out."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return _lines(super().to_python(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return _lines(data) != _lines(self.prepare_value(initial))


class PairsField(LinesField):
    """An object of plain values, `name = value` on each line; a value is JSON, or else a text."""

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return "\n".join(f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in value.items())

    def to_python(self, value: Any) -> Any:
        found: Json = {}
        for number, line in enumerate(str(forms.CharField.to_python(self, value)).splitlines(), start=1):
            if line.strip():
                name, equals, text = (part.strip() for part in line.partition("="))
                if not equals:
                    raise ValidationError(f"Line {number}: write a name, = and a value.")
                found[name] = _scalar(text)
        return found


def _lines(text: Any) -> list[str]:
    return [line.strip() for line in str(text or "").splitlines() if line.strip()]


def _scalar(text: str) -> Any:
    """Return the JSON value, or the text where it is not JSON."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def _form_field(field: Field) -> forms.Field:
    rule = field.rule
    help_text: str = OBJECTS[field.key].get("help", {}).get(field.name, "")
    said: Json = {"label": label_of(field.key, field.name), "help_text": help_text, "required": False}
    match rule:
        case Boolean():
            return forms.BooleanField(**said)
        case Number():
            said["help_text"] = help_text or f"{rule.minimum} to {rule.maximum}; empty: {field.default}."
            return NumberField(min_value=rule.minimum, max_value=rule.maximum, **said)
        case Color():
            said["help_text"] = help_text or "Such as #1b5e4b; empty: the usual color."
            widget = forms.TextInput(attrs={"data-color": "", "spellcheck": "false", "autocomplete": "off"})
            return forms.CharField(max_length=9, widget=widget, **said)
        case Text(choices=(_, *_)):
            return forms.ChoiceField(choices=[(name, name.capitalize() or "None") for name in rule.choices], **said)
        case Text():
            if rule.max_length > MAX_LINE:
                return ParagraphField(max_length=rule.max_length, widget=forms.Textarea(attrs={"rows": 3}), **said)
            widget = SuggestInput(*SUGGESTED[name]) if (name := field_name(field)) in SUGGESTED else forms.TextInput()
            return forms.CharField(max_length=rule.max_length, strip=False, widget=widget, **said)
        case TextList():
            said["help_text"] = (
                f"One on each line; at most {rule.max_items}, each of at most {rule.max_length} characters."
            )
            return LinesField(widget=forms.Textarea(attrs={"rows": 4}), **said)
        case FlatObject():
            said["help_text"] = 'One on each line, such as speed = 2 or name = "snow"; true and false are words.'
            return PairsField(widget=forms.Textarea(attrs={"rows": 4}), **said)
    raise TypeError(f"No widget for {rule}.")


def field_name(field: Field) -> str:
    return f"{field.key}.{field.name}"


@dataclass(frozen=True)
class Part:
    """Settings of one key, or the fonts, which have none. `id`: of its place on the page. `is_refused`: a value has an
    error. `is_changed`: a value differs from the theme's."""

    id: str
    key: str
    title: str
    fields: list[BoundField]
    is_refused: bool
    is_changed: bool


@dataclass(frozen=True)
class Group:
    title: str
    parts: list[Part]

    @property
    def is_refused(self) -> bool:
        return any(part.is_refused for part in self.parts)


class SettingsForm(ColumnsForm, forms.Form):
    """Every setting. A setting that the user does not change stays exactly as it is stored."""

    version = VersionField()

    def __init__(self, *args: Any, instance: Profile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile = instance
        self.stored = settings_schema.filled(instance.settings)
        self.given = themes.given(instance)["settings"]
        self.initial["version"] = versions.of(instance.updated_at)
        for field in FIELDS:
            self.fields[field_name(field)] = _form_field(field)
            self.initial[field_name(field)] = self.stored[field.key][field.name]
        for column, (label, help_text) in FONTS.items():
            self.fields[column] = forms.CharField(
                max_length=64,
                required=False,
                label=label,
                help_text=help_text,
                validators=[validate_line],
                widget=SuggestInput(*FONTS_ON_PAGE),
            )
            self.initial[column] = getattr(instance, column)

    def clean(self) -> Json:
        """Check the values by the rules of the settings, too."""
        super().clean()
        try:
            settings_schema.validated(self.chosen())
        except ValidationError as refusal:
            for path, problems in refusal.message_dict.items():
                if path in self.fields and path not in self.errors:
                    self.add_error(path, problems)
        return self.cleaned_data

    def chosen(self) -> dict[str, Json]:
        """Return all settings with the changed values. An empty number is the default."""
        settings = copy.deepcopy(self.stored)
        for field in FIELDS:
            name = field_name(field)
            if name in self.changed_data and name in self.cleaned_data:
                value = self.cleaned_data[name]
                settings[field.key][field.name] = copy.copy(field.default) if value is None else value
        return settings

    def columns(self) -> Json:
        fonts = {column: self.cleaned_data[column] for column in FONTS if column in self.data}
        return {"settings": self.chosen(), **fonts}

    def groups(self) -> list[Group]:
        """Return the settings that our page shows, in its order."""
        made = [
            Group(title, [self._part(key, is_on_page=True) for key in keys if key in ON_PAGE])
            for title, keys in WORDS["groups"].items()
        ]
        made[0].parts.append(self._fonts())
        return [group for group in made if group.parts]

    def for_clients(self) -> Group:
        """Return the settings that only other programs show."""
        parts = [self._part(key, is_on_page=False) for key in TITLES]
        return Group("For API clients", [part for part in parts if part.fields])

    def _part(self, key: str, *, is_on_page: bool) -> Part:
        here = ON_PAGE.get(key, ())
        fields = [field for field in FIELDS if field.key == key and (field.name in here) == is_on_page]
        bound = [self[field_name(field)] for field in fields]
        given = self.given[key]
        return Part(
            id=key if is_on_page or not here else f"{key}-clients",
            key=key,
            title=TITLES[key],
            fields=bound,
            is_refused=any(field.errors for field in bound),
            is_changed=any(self.stored[key][field.name] != given[field.name] for field in fields),
        )

    def _fonts(self) -> Part:
        fields = [self[column] for column in FONTS]
        return Part("fonts", "", "Fonts", fields, is_refused=any(field.errors for field in fields), is_changed=False)
