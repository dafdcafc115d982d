"""The types of profile sections, each one member of `SectionType`: what it is and what its configuration holds.

Source: docs/spec/lookup.md, "Current lookup". Stored configurations, serializers, import, OpenAPI and the editor's form
derive from these members. The pictures of a gallery are rows of the profile; games, anime, media and music name entries
of the catalogues. Pure rules.
"""

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.db.models import TextChoices
from rest_framework import serializers

from lookup.shapes.strict_fields import EXACT, Boolean, Form, ListOf, Problems, Rule, Text, TextList, problem_of_text
from lookup.shapes.svg import svg_problems

MAX_CONTENT = 20_000
MAX_ITEMS = 100
MAX_CUSTOM_SKILLS = 50
SKILL_GROUPS = ("frontend", "backend", "database", "core", "game", "tools", "cloud", "mobile", "design", "music")
SKILL_NAMES = TextList(MAX_ITEMS, 64, min_length=1)
MUSIC_KINDS = ("track", "album", "artist")

_ROW_ID = re.compile(r"[0-9a-f]{32}")
_REQUIRED: Any = ...  # the default of a key that must be given; Any: a marker among values


class Alignment(TextChoices):
    LEFT = "left", "Left"
    CENTER = "center", "Center"
    RIGHT = "right", "Right"


def _problem_of_ids(value: object, is_id: Callable[[object], bool], wanted: str) -> str | None:
    if not isinstance(value, list):
        return "Must be a list of ids."
    if len(value) > MAX_ITEMS:
        return f"Has {len(value)} entries; at most {MAX_ITEMS} are allowed."
    for number, entry in enumerate(value, start=1):
        if not is_id(entry):
            return f"Entry {number}: Must be {wanted}."
    return None if len(set(value)) == len(value) else "Names an id twice."


class RowIds(Rule, serializers.ListField):
    """Ids of rows of the profile, which the include `include` shows."""

    def __init__(self, include: str) -> None:
        super().__init__(child=serializers.CharField())
        self.include = include

    def problem_of(self, value: object) -> str | None:
        return _problem_of_ids(
            value,
            lambda entry: isinstance(entry, str) and _ROW_ID.fullmatch(entry) is not None,
            "an id of 32 lower-case hexadecimal characters",
        )


class CatalogueIds(Rule, serializers.ListField):
    def problem_of(self, value: object) -> str | None:
        return _problem_of_ids(
            value,
            lambda entry: isinstance(entry, int) and not isinstance(entry, bool) and 0 < entry <= EXACT,
            "a positive integer",
        )


class Choice(Rule, serializers.ChoiceField):
    def __init__(self, options: type[TextChoices]) -> None:
        super().__init__(options.choices)
        self.options = options

    def problem_of(self, value: object) -> str | None:
        return Text(8, choices=tuple(self.options.values)).problem_of(value)


class Icon(Rule, serializers.CharField):
    """Empty, or a safe SVG."""

    def problem_of(self, value: object) -> str | None:
        if not isinstance(value, str):
            return problem_of_text(value, 0)
        return " ".join(svg_problems(value)) or None if value else None


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a configuration. `shape`: the field of serializers that reads and shows it.

    `label`, `input_name`: of its field in the editor's form. `listed`: the key under which answers show rows of the
    type's catalogue instead of their ids.
    """

    shape: Rule | Form | ListOf
    default: Any = _REQUIRED
    label: str = ""
    input_name: str = ""
    listed: str = ""


def form_of(fields: Mapping[str, Field], name: str = "") -> Form:
    """Return the serializer of these fields."""
    shapes = {key: copy.deepcopy(field.shape) for key, field in fields.items()}
    defaults = {key: field.default for key, field in fields.items() if field.default is not _REQUIRED}
    form: type[Form] = type(f"{name}Serializer", (Form,), {"DEFAULTS": defaults, **shapes})
    return form()


@dataclass(frozen=True)
class Definition:
    """`meaning`: what the type shows, for the page where one is chosen; `hint`: a sentence of the editor's form about
    work to be done elsewhere; `note`: its description in OpenAPI; `shows_enabled`: answers hold `enabled`."""

    meaning: str
    config: Mapping[str, Field]
    hint: str = ""
    note: str = ""
    shows_enabled: bool = False

    @cached_property
    def form(self) -> Form:
        return form_of(self.config)

    @property
    def row_ids(self) -> dict[str, str]:
        """Return the includes whose rows the configuration names, by its keys."""
        return {key: field.shape.include for key, field in self.config.items() if isinstance(field.shape, RowIds)}


_CONTENT = Field(Text(MAX_CONTENT, is_long=True), "", label="Text", input_name="body")
_CUSTOM_SKILL = form_of(
    {
        "label": Field(Text(64, min_length=1)),
        "iconName": Field(Text(64), ""),
        "iconSvg": Field(Icon(), ""),
    },
    "CustomSkill",
)
_MUSIC = form_of(
    {
        "kind": Field(Text(8, choices=MUSIC_KINDS)),
        "musicId": Field(Text(100, min_length=1)),
    }
)
_SKILLS = form_of(
    {
        **dict.fromkeys(SKILL_GROUPS, Field(SKILL_NAMES, [])),
        "custom": Field(ListOf(_CUSTOM_SKILL, MAX_CUSTOM_SKILLS), []),
    },
    "Skills",
)
_CATALOGUE_HINT = "Add the section first. Then choose what it lists."


class SectionType(TextChoices):
    ABOUT_ME = (
        "ABOUT_ME",
        Definition(
            "A text about you, with widgets and skills.",
            {
                "content": _CONTENT,
                "widgetIds": Field(RowIds("widgets"), []),
                "skills": Field(_SKILLS, {}),
                "skillsEnabled": Field(Boolean(), default=True, label="Show the skills", input_name="has_skills"),
                "skillsAlignment": Field(
                    Choice(Alignment),
                    Alignment.LEFT.value,
                    label="Alignment of the skills",
                    input_name="skills_alignment",
                ),
            },
            shows_enabled=True,
        ),
        "About me",
    )
    PROJECTS = (
        "PROJECTS",
        Definition(
            "Some of your projects.",
            {"projectIds": Field(RowIds("projects"), [])},
            hint="Projects are written on the tab Projects; here you choose which ones this section shows.",
            note="The ids are those of the `projects` include.",
        ),
        "Projects",
    )
    CUSTOM_TEXT = (
        "CUSTOM_TEXT",
        Definition("Any text under a title of its own.", {"content": _CONTENT}, shows_enabled=True),
        "Text",
    )
    GALLERY = (
        "GALLERY",
        Definition("Pictures.", {}, hint="Pictures are added on the tab Gallery: choose this section there."),
        "Gallery",
    )
    AUDIO_PLAYER = (
        "AUDIO_PLAYER",
        Definition(
            "A player for your songs.", {}, hint="It plays what is on the tab Audios.", note="Nothing of its own."
        ),
        "Audio player",
    )
    GAMES = (
        "GAMES",
        Definition(
            "Games that you like.", {"gameIds": Field(CatalogueIds(), [], listed="games")}, hint=_CATALOGUE_HINT
        ),
        "Games",
    )
    ANIME = (
        "ANIME",
        Definition(
            "Anime that you like.", {"animeIds": Field(CatalogueIds(), [], listed="anime")}, hint=_CATALOGUE_HINT
        ),
        "Anime",
    )
    MEDIA = (
        "MEDIA",
        Definition(
            "Films and series that you like.",
            {"mediaIds": Field(CatalogueIds(), [], listed="media")},
            hint=_CATALOGUE_HINT,
        ),
        "Films and series",
    )
    MUSIC = (
        "MUSIC",
        Definition(
            "Tracks, albums and artists that you like.",
            {"music": Field(ListOf(_MUSIC, MAX_ITEMS, unique=("kind", "musicId")), [], listed="music")},
            hint=_CATALOGUE_HINT,
        ),
        "Music",
    )

    definition: Definition

    def __new__(cls, value: str, definition: Definition) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.definition = definition
        return member


DEFINITIONS: dict[str, Definition] = {type_: type_.definition for type_ in SectionType}


def default(type: str) -> dict[str, Any]:
    """Return the configuration of a new section; Any is JSON."""
    return validated(type, {})


def validated(type: str, config: object) -> dict[str, Any]:
    """Return the complete configuration to store, with defaults for missing keys. Raises ValidationError by path."""
    if type not in DEFINITIONS:
        raise ValidationError({"type": ["Unknown type of section."]})
    problems: Problems = []
    complete = DEFINITIONS[type].form.read(config, "", problems)
    sentences: dict[str, list[str]] = {}
    for path, sentence in problems:
        sentences.setdefault(path or "config", []).append(sentence)
    if sentences:
        raise ValidationError(sentences)
    stored: dict[str, Any] = copy.deepcopy(complete)
    return stored


def filled(type: str, stored: object) -> dict[str, Any] | None:
    """Return the stored configuration as lookups show it, with defaults for missing keys; None where it is invalid."""
    problems: Problems = []
    complete: dict[str, Any] | None = DEFINITIONS[type].form.read(stored, "", problems) if type in DEFINITIONS else None
    return None if problems else complete


def is_valid(type: str, stored: object) -> bool:
    """Return whether lookups may show a section with this configuration."""
    return filled(type, stored) is not None
