"""The form of the settings objects, made from the table of settings: labels, and one widget for each kind of rule."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

from accounts.models import User
from dashboard import versions
from dashboard.profile.forms import written
from dashboard.versions import VersionField
from lookup.models import Profile
from lookup.shapes import settings_schema
from lookup.shapes.settings_schema import FIELDS, Field
from lookup.shapes.strict_fields import Boolean, Color, FlatObject, Number, Text, TextList

# Titles of the settings objects, by group, in the order of the page.
GROUPS = {
    "Page": {
        "colorsSettings": "Colors",
        "cardSettings": "Card",
        "textSettings": "Text",
        "backgroundSettings": "Background",
        "cursorSettings": "Cursor",
    },
    "Top of the page": {
        "avatarSettings": "Picture",
        "usernameSettings": "Username",
        "typewriterSettings": "Typewriter",
        "presenceSettings": "Live presence",
    },
    "What the page lists": {"badgesSettings": "Badges", "linksSettings": "Links", "audioSettings": "Audio player"},
    "Sections": {"aboutMeSettings": "About me", "skillsSettings": "Skills", "projectsSettings": "Projects"},
    "Visitors": {"viewsSettings": "Views", "feedbackSettings": "Likes and dislikes", "commentsSettings": "Comments"},
    "Opening and title": {
        "enterSettings": "Before the page opens",
        "animationSettings": "Animation",
        "titleSettings": "Browser title",
        "metadataSettings": "Previews in messengers and search",
    },
}
TITLES = {key: title for titles in GROUPS.values() for key, title in titles.items()}
# The settings that our page shows; all other ones are for API clients.
ON_PAGE = {
    "badgesSettings": ("monochrome",),
    "linksSettings": ("enabled", "monochrome"),
    "colorsSettings": (
        *("accentColor", "textColor", "backgroundColor", "primaryColor", "secondaryColor", "gradient", "gradientAngle"),
    ),
    "cardSettings": ("blur", "opacity", "border", "borderColor", "borderWidth", "borderRadius"),
    "usernameSettings": ("enabled", "effect"),
    "avatarSettings": ("enabled", "mirrorChat"),
    "audioSettings": ("player",),
    "typewriterSettings": ("enabled", "descriptions"),
    "metadataSettings": ("title", "description", "color"),
    "presenceSettings": (*("enabled", "status", "decoration", "clan", "badges", "image", "details", "left", "right"),),
    "aboutMeSettings": ("enabled",),
    "skillsSettings": ("enabled",),
    "projectsSettings": ("title", "description"),
    "viewsSettings": ("enabled",),
    "feedbackSettings": ("enabled",),
    "commentsSettings": ("enabled",),
}
LABELS = {
    "linksSettings.enabled": "Show links",
    "usernameSettings.enabled": "Show the username",
    "avatarSettings.enabled": "Show the picture",
    "avatarSettings.mirrorChat": "Show the picture of my linked chat account",
    "audioSettings.player": "Show the player",
    "presenceSettings.enabled": "Show my presence",
    "presenceSettings.left": "Text on the left",
    "presenceSettings.right": "Text on the right",
    "aboutMeSettings.enabled": "Show sections about me",
    "skillsSettings.enabled": "Show skills",
    "viewsSettings.enabled": "Show how many people have seen the page",
    "feedbackSettings.enabled": "Show likes and dislikes",
    "commentsSettings.enabled": "Show comments",
    "typewriterSettings.enabled": "Type the descriptions out",
    "typewriterSettings.speed": "Pause between letters (ms)",
    "typewriterSettings.deleteSpeed": "Pause between letters when deleting (ms)",
    "typewriterSettings.delay": "Pause before deleting (ms)",
    "titleSettings.animated": "Move the title",
    "backgroundSettings.effectSettings": "Settings of the effect",
    "colorsSettings.gradient": "Gradient from the primary to the secondary color",
    "colorsSettings.gradientAngle": "Angle of the gradient (degrees)",
}
_WORDS = {
    "customization": "Own look",
    "borderCustomization": "Own border",
    "color": "Color",
    "borderWidth": "Width of the border (pixels)",
    "borderRadius": "Radius of the corners (pixels)",
    "borderOpacity": "Opacity of the border (%)",
    "opacity": "Opacity (%)",
    "glowStrength": "Strength of the glow (%)",
    "blur": "Blur (pixels)",
}
HELP = {
    "badgesSettings.monochrome": "All badges in one color, whatever each of them says.",
    "usernameSettings.enabled": "Below the display name.",
    "avatarSettings.decoration": "The name or the address of a frame.",
    "avatarSettings.mirrorChat": "It changes whenever you change it there. The picture under Media is not shown then.",
    "presenceSettings.enabled": "What you do now, from the chat platform. Off: the page hides it.",
    "metadataSettings.color": "Of the bar beside the preview, and of the browser's frame on phones.",
    "enterSettings.text": "What visitors press before they see the page.",
}


def label_of(key: str, name: str) -> str:
    """Return the name in words: `accentColor` is "Accent color"."""
    words = re.sub(r"([A-Z])", lambda letter: f" {letter[0].lower()}", name)
    return LABELS.get(f"{key}.{name}") or _WORDS.get(name) or words[:1].upper() + words[1:]


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


class PairsField(forms.CharField):
    """An object of plain values, `name = value` on each line; a value is JSON, or else a text."""

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return "\n".join(f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in value.items())

    def to_python(self, value: Any) -> Any:
        found: Json = {}
        for number, line in enumerate(str(super().to_python(value)).splitlines(), start=1):
            if line.strip():
                name, equals, text = (part.strip() for part in line.partition("="))
                if not equals:
                    raise ValidationError(f"Line {number}: write a name, = and a value.")
                found[name] = _scalar(text)
        return found

    def has_changed(self, initial: Any, data: Any) -> bool:
        return _lines(data) != _lines(self.prepare_value(initial))


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
    said: Json = {
        "label": label_of(field.key, field.name),
        "help_text": HELP.get(field_name(field), ""),
        "required": False,
    }
    match rule:
        case Boolean():
            return forms.BooleanField(**said)
        case Number():
            said["help_text"] = said["help_text"] or f"{rule.minimum} to {rule.maximum}; empty: {field.default}."
            return NumberField(min_value=rule.minimum, max_value=rule.maximum, step_size=None, **said)
        case Color():
            said["help_text"] = said["help_text"] or "Such as #1b5e4b; empty: the color of the theme."
            widget = forms.TextInput(attrs={"data-color": "", "spellcheck": "false", "autocomplete": "off"})
            return forms.CharField(max_length=9, widget=widget, **said)
        case Text(choices=(_, *_)):
            return forms.ChoiceField(choices=[(name, name.capitalize() or "None") for name in rule.choices], **said)
        case Text():
            if rule.max_length > MAX_LINE:
                return ParagraphField(max_length=rule.max_length, widget=forms.Textarea(attrs={"rows": 3}), **said)
            return forms.CharField(max_length=rule.max_length, strip=False, **said)
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
    """Settings of one key. `id`: of its place on the page. `is_refused`: a value has an error."""

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


class SettingsForm(forms.Form):
    """Every setting. A setting that the user does not change stays exactly as it is stored."""

    version = VersionField()

    def __init__(self, *args: Any, profile: Profile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile = profile
        self.stored = settings_schema.filled(profile.settings)
        self.initial["version"] = versions.of(profile.updated_at)
        for field in FIELDS:
            self.fields[field_name(field)] = _form_field(field)
            self.initial[field_name(field)] = self.stored[field.key][field.name]

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
                is_default = value is None or (value == "" and isinstance(field.rule, Number))
                settings[field.key][field.name] = copy.copy(field.default) if is_default else value
        return settings

    def typed(self) -> Profile:
        """Return the profile as it would be with the values of a valid form."""
        changed = copy.copy(self.profile)
        changed.settings = settings_schema.validated(self.chosen())
        return changed

    def write(self, *, by: User) -> bool:
        """Save the values. Return False if they were refused; the form has the errors."""
        return written(self, self.profile, {"settings": self.chosen()}, by=by)

    def groups(self) -> list[Group]:
        """Return the settings that our page shows, in its order."""
        made = [
            Group(title, [self._part(key, is_on_page=True) for key in keys if key in ON_PAGE])
            for title, keys in GROUPS.items()
        ]
        return [group for group in made if group.parts]

    def for_clients(self) -> Group:
        """Return the settings that only other programs show."""
        parts = [self._part(key, is_on_page=False) for key in TITLES]
        return Group("For API clients", [part for part in parts if part.fields])

    def _part(self, key: str, *, is_on_page: bool) -> Part:
        here = ON_PAGE.get(key, ())
        fields = [field for field in FIELDS if field.key == key and (field.name in here) == is_on_page]
        bound = [self[field_name(field)] for field in fields]
        stored = self.profile.settings.get(key, {})
        return Part(
            id=key if is_on_page or not here else f"{key}-clients",
            key=key,
            title=TITLES[key],
            fields=bound,
            is_refused=any(field.errors for field in bound),
            is_changed=any(field.name in stored for field in fields),
        )


def without(profile: Profile, key: str) -> Json:
    """Return the stored settings of the profile with the defaults for one key."""
    return {name: value for name, value in profile.settings.items() if name != key}
