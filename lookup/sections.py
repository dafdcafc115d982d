"""The nine types of profile sections: what each one is and what its configuration holds, one row of `DEFINITIONS` each.

Source: docs/spec/lookup.md, "Current lookup". Stored configurations, serializers, import, OpenAPI and the editor's form
derive from these rows. The pictures of a gallery are rows of the profile; games, anime, media and music name entries of
the catalogues. Pure rules.
"""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from django.core.exceptions import ValidationError
from django.db.models import TextChoices

from lookup.svg import svg_problems
from lookup.values import EXACT, Boolean, Text, TextList, path_of, problem_of_text

MAX_CONTENT = 20_000
MAX_ITEMS = 100
MAX_CUSTOM_SKILLS = 50
SKILL_GROUPS = ("frontend", "backend", "database", "core", "game", "tools", "cloud", "mobile", "design", "music")
SKILL_NAMES = TextList(MAX_ITEMS, 64, min_length=1)
MUSIC_KINDS = ("track", "album", "artist")

_ROW_ID = re.compile(r"[0-9a-f]{32}")
_REQUIRED: Any = ...  # the default of what must be given; Any: a marker among values

Problem = tuple[str, str]  # a path such as skills.custom.0.label, and a sentence


class SectionType(TextChoices):
    ABOUT_ME = "ABOUT_ME", "About me"
    PROJECTS = "PROJECTS", "Projects"
    CUSTOM_TEXT = "CUSTOM_TEXT", "Text"
    GALLERY = "GALLERY", "Gallery"
    AUDIO_PLAYER = "AUDIO_PLAYER", "Audio player"
    GAMES = "GAMES", "Games"
    ANIME = "ANIME", "Anime"
    MEDIA = "MEDIA", "Films and series"
    MUSIC = "MUSIC", "Music"


class Alignment(TextChoices):
    LEFT = "left", "Left"
    CENTER = "center", "Centre"
    RIGHT = "right", "Right"


def default(type: str) -> dict[str, Any]:
    """The configuration of a new section; Any is JSON."""
    return validated(type, {})


def validated(type: str, config: object) -> dict[str, Any]:
    """The complete configuration to store, defaults in the place of what was left out; ValidationError by path."""
    if type not in DEFINITIONS:
        raise ValidationError({"type": ["Unknown type of section."]})
    shape = DEFINITIONS[type].config
    complete = shape.filled(config)
    sentences: dict[str, list[str]] = {}
    for path, sentence in shape.problems(complete, ""):
        sentences.setdefault(path or "config", []).append(sentence)
    if sentences:
        raise ValidationError(sentences)
    stored: dict[str, Any] = copy.deepcopy(complete)
    return stored


def filled(type: str, stored: object) -> dict[str, Any] | None:
    """The stored configuration as lookups show it, a default for each field that it lacks; None where it is invalid."""
    if type not in DEFINITIONS:
        return None
    complete: dict[str, Any] = DEFINITIONS[type].config.filled(stored)
    return None if any(DEFINITIONS[type].config.problems(complete, "")) else complete


def is_valid(type: str, stored: object) -> bool:
    """Whether lookups may show a section with this configuration."""
    return filled(type, stored) is not None


def description() -> str:
    """Fields, rules and defaults of every type: the same text in every process, another one after a change."""
    return repr([(str(name), definition) for name, definition in DEFINITIONS.items()])


class ValueRule(Protocol):
    def problem_of(self, value: object) -> str | None: ...


class Part(Protocol):
    @property
    def default(self) -> Any:
        """The value where it is left out; Any is JSON."""

    def filled(self, value: Any) -> Any:
        """The value with defaults in the place of what is missing, wrong parts as they are; it may share parts."""

    def problems(self, value: object, path: str) -> Iterator[Problem]: ...


@dataclass(frozen=True, slots=True)
class Value:
    """`label`: of its field in the editor's form."""

    rule: ValueRule
    default: Any
    label: str = ""

    def filled(self, value: Any) -> Any:
        return value

    def problems(self, value: object, path: str) -> Iterator[Problem]:
        if problem := self.rule.problem_of(value):
            yield path, problem


@dataclass(frozen=True, slots=True)
class Object:
    """`name`: of its serializer, where it is a part of a configuration."""

    fields: dict[str, Part]
    default: Any = None
    name: str = ""

    def filled(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = {
            name: shape.filled(value.get(name, shape.default))
            for name, shape in self.fields.items()
            if name in value or shape.default is not _REQUIRED
        }
        return known | {name: unknown for name, unknown in value.items() if name not in self.fields}

    def problems(self, value: object, path: str) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield path, "Must be an object."
            return
        for name, shape in self.fields.items():
            if name in value:
                yield from shape.problems(value[name], _join(path, name))
            else:
                yield _join(path, name), "Is missing."
        for name in value:
            if name not in self.fields:
                yield _join(path, name), "Unknown name."


@dataclass(frozen=True, slots=True)
class Objects:
    """A list of objects; no two of them alike in all of the fields `unique`."""

    shape: Object
    max_items: int
    unique: tuple[str, ...] = ()
    default: Any = ()

    def filled(self, value: Any) -> Any:
        return [self.shape.filled(entry) for entry in value] if isinstance(value, list | tuple) else value

    def problems(self, value: object, path: str) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield path, "Must be a list of objects."
        elif len(value) > self.max_items:
            yield path, f"Has {len(value)} entries; at most {self.max_items} are allowed."
        else:
            found = [problem for i, entry in enumerate(value) for problem in self.shape.problems(entry, f"{path}.{i}")]
            yield from found
            if self.unique and not found:
                keys = [tuple(entry[name] for name in self.unique) for entry in value]
                if len(set(keys)) != len(keys):
                    yield path, "Names an entry twice."


def _join(path: str, name: object) -> str:
    return f"{path}.{path_of(name)}" if path else path_of(name)


def _problem_of_ids(value: object, is_id: Callable[[object], bool], wanted: str) -> str | None:
    if not isinstance(value, list):
        return "Must be a list of ids."
    if len(value) > MAX_ITEMS:
        return f"Has {len(value)} entries; at most {MAX_ITEMS} are allowed."
    for number, entry in enumerate(value, start=1):
        if not is_id(entry):
            return f"Entry {number}: Must be {wanted}."
    return None if len(set(value)) == len(value) else "Names an id twice."


@dataclass(frozen=True, slots=True)
class RowIds:
    """Ids of rows of the profile, which the include `include` shows."""

    include: str

    def problem_of(self, value: object) -> str | None:
        return _problem_of_ids(
            value,
            lambda entry: isinstance(entry, str) and _ROW_ID.fullmatch(entry) is not None,
            "an id of 32 lower-case hexadecimal characters",
        )


@dataclass(frozen=True, slots=True)
class CatalogueIds:
    def problem_of(self, value: object) -> str | None:
        return _problem_of_ids(
            value,
            lambda entry: isinstance(entry, int) and not isinstance(entry, bool) and 0 < entry <= EXACT,
            "a positive integer",
        )


@dataclass(frozen=True, slots=True)
class Choice:
    options: type[TextChoices]

    def problem_of(self, value: object) -> str | None:
        return Text(8, choices=tuple(self.options.values)).problem_of(value)


@dataclass(frozen=True, slots=True)
class Icon:
    """Empty, or a safe SVG."""

    def problem_of(self, value: object) -> str | None:
        if not isinstance(value, str):
            return problem_of_text(value, 0)
        return " ".join(svg_problems(value)) or None if value else None


@dataclass(frozen=True, slots=True)
class Definition:
    """A type of section.

    `meaning`: what it shows, for the page where one is chosen; `hint`: what the editor's form says of work to be done
    elsewhere; `note`: its description in OpenAPI; `shows_enabled`: answers hold `enabled`.
    """

    meaning: str
    config: Object
    hint: str = ""
    note: str = ""
    shows_enabled: bool = False

    @property
    def row_ids(self) -> dict[str, str]:
        """The includes whose rows the configuration names, by the name of its field."""
        found = {name: part.rule for name, part in self.config.fields.items() if isinstance(part, Value)}
        return {name: rule.include for name, rule in found.items() if isinstance(rule, RowIds)}


_CONTENT = Value(Text(MAX_CONTENT, is_long=True), "", label="Text")
_CUSTOM_SKILL = Object(
    {
        "label": Value(Text(64, min_length=1), _REQUIRED),
        "iconName": Value(Text(64), ""),
        "iconSvg": Value(Icon(), ""),
    },
    name="CustomSkill",
)
_MUSIC = Object(
    {
        "kind": Value(Text(8, choices=MUSIC_KINDS), _REQUIRED),
        "musicId": Value(Text(100, min_length=1), _REQUIRED),
    }
)
_SKILLS = Object(
    {**dict.fromkeys(SKILL_GROUPS, Value(SKILL_NAMES, [])), "custom": Objects(_CUSTOM_SKILL, MAX_CUSTOM_SKILLS)},
    default={},
    name="Skills",
)
_CATALOGUE_IDS = Value(CatalogueIds(), [])
_CATALOGUE_HINT = "Once the section is there, you choose what it lists."
DEFINITIONS: dict[str, Definition] = {
    SectionType.ABOUT_ME: Definition(
        "A text about you, with widgets and skills.",
        Object(
            {
                "content": _CONTENT,
                "widgetIds": Value(RowIds("widgets"), []),
                "skills": _SKILLS,
                "skillsEnabled": Value(Boolean(), default=True, label="Show the skills"),
                "skillsAlignment": Value(Choice(Alignment), Alignment.LEFT.value, label="Alignment of the skills"),
            }
        ),
        shows_enabled=True,
    ),
    SectionType.PROJECTS: Definition(
        "Some of your projects.",
        Object({"projectIds": Value(RowIds("projects"), [])}),
        hint="Projects are written on the tab Projects; here you choose which ones this section shows.",
        note="The ids are those of the `projects` include.",
    ),
    SectionType.CUSTOM_TEXT: Definition(
        "Any text under a title of its own.", Object({"content": _CONTENT}), shows_enabled=True
    ),
    SectionType.GALLERY: Definition(
        "Pictures.", Object({}), hint="Pictures are added on the tab Gallery: choose this section there."
    ),
    SectionType.AUDIO_PLAYER: Definition(
        "A player for your songs.",
        Object({}),
        hint="It plays what is on the tab Audios.",
        note="Nothing of its own.",
    ),
    SectionType.GAMES: Definition("Games that you like.", Object({"gameIds": _CATALOGUE_IDS}), _CATALOGUE_HINT),
    SectionType.ANIME: Definition("Anime that you like.", Object({"animeIds": _CATALOGUE_IDS}), _CATALOGUE_HINT),
    SectionType.MEDIA: Definition(
        "Films and series that you like.", Object({"mediaIds": _CATALOGUE_IDS}), _CATALOGUE_HINT
    ),
    SectionType.MUSIC: Definition(
        "Tracks, albums and artists that you like.",
        Object({"music": Objects(_MUSIC, MAX_ITEMS, unique=("kind", "musicId"))}),
        _CATALOGUE_HINT,
    ),
}
