"""The nine types of profile sections, and what their stored configuration must be. Pure rules.

Source: docs/spec/lookup.md, "Current lookup". Each type has a configuration of its own. The pictures of a gallery are
rows; games, anime, media and music name entries of the catalogues.
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
MUSIC_KINDS = ("track", "album", "artist")

_ROW_ID = re.compile(r"[0-9a-f]{32}")
_REQUIRED: Any = ...  # the default of what must be given; Any, for it stands where values stand

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
    if type not in _SHAPES:
        raise ValidationError({"type": ["Unknown type of section."]})
    shape = _SHAPES[type]
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
    if type not in _SHAPES:
        return None
    complete: dict[str, Any] = _SHAPES[type].filled(stored)
    return None if any(_SHAPES[type].problems(complete, "")) else complete


def is_valid(type: str, stored: object) -> bool:
    """Whether lookups may show a section with this configuration."""
    return filled(type, stored) is not None


def description() -> str:
    """Fields, rules and defaults of every type: the same text in every process, another one after a change."""
    return repr([(str(name), shape) for name, shape in _SHAPES.items()])


class _Shape(Protocol):
    @property
    def default(self) -> Any:
        """What stands where the value is left out; Any is JSON."""

    def filled(self, value: Any) -> Any:
        """The value with defaults in the place of what is missing, wrong parts as they are; it may share parts."""

    def problems(self, value: object, path: str) -> Iterator[Problem]: ...


@dataclass(frozen=True, slots=True, repr=False)
class _Value:
    problem_of: Callable[[object], str | None]
    default: Any

    def __repr__(self) -> str:
        """A function by its name: its own representation has its place in memory."""
        rule = getattr(self.problem_of, "__self__", self.problem_of.__qualname__)
        return f"{rule!r} or {self.default!r}"

    def filled(self, value: Any) -> Any:
        return value

    def problems(self, value: object, path: str) -> Iterator[Problem]:
        if problem := self.problem_of(value):
            yield path, problem


@dataclass(frozen=True, slots=True)
class _Object:
    fields: dict[str, _Shape]
    default: Any = None

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
class _Objects:
    """A list of objects; no two of them alike in all of the fields `unique`."""

    shape: _Object
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


def _problem_of_row_ids(value: object) -> str | None:
    return _problem_of_ids(
        value,
        lambda entry: isinstance(entry, str) and _ROW_ID.fullmatch(entry) is not None,
        "an id of 32 lower-case hexadecimal characters",
    )


def _problem_of_catalogue_ids(value: object) -> str | None:
    return _problem_of_ids(
        value,
        lambda entry: isinstance(entry, int) and not isinstance(entry, bool) and 0 < entry <= EXACT,
        "a positive integer",
    )


def _problem_of_icon(value: object) -> str | None:
    """Empty, or a safe SVG."""
    if not isinstance(value, str):
        return problem_of_text(value, 0)
    return " ".join(svg_problems(value)) or None if value else None


def _text(max_length: int) -> _Value:
    return _Value(Text(max_length).problem_of, "")


_ROW_IDS = _Value(_problem_of_row_ids, [])
_CATALOGUE_IDS = _Value(_problem_of_catalogue_ids, [])
_CONTENT = _Value(Text(MAX_CONTENT, is_long=True).problem_of, "")
_SKILL_NAMES = _Value(TextList(MAX_ITEMS, 64, min_length=1).problem_of, [])
_CUSTOM_SKILL = _Object(
    {
        "label": _Value(Text(64, min_length=1).problem_of, _REQUIRED),
        "iconName": _text(64),
        "iconSvg": _Value(_problem_of_icon, ""),
    }
)
_MUSIC = _Object(
    {
        "kind": _Value(Text(8, choices=MUSIC_KINDS).problem_of, _REQUIRED),
        "musicId": _Value(Text(100, min_length=1).problem_of, _REQUIRED),
    }
)
_SKILLS = _Object(
    {**dict.fromkeys(SKILL_GROUPS, _SKILL_NAMES), "custom": _Objects(_CUSTOM_SKILL, MAX_CUSTOM_SKILLS)}, default={}
)
_SHAPES: dict[str, _Object] = {
    SectionType.ABOUT_ME: _Object(
        {
            "content": _CONTENT,
            "widgetIds": _ROW_IDS,
            "skills": _SKILLS,
            "skillsEnabled": _Value(Boolean().problem_of, True),  # noqa: FBT003  # a default among others
            "skillsAlignment": _Value(Text(8, choices=tuple(Alignment.values)).problem_of, Alignment.LEFT.value),
        }
    ),
    SectionType.PROJECTS: _Object({"projectIds": _ROW_IDS}),
    SectionType.CUSTOM_TEXT: _Object({"content": _CONTENT}),
    SectionType.GALLERY: _Object({}),
    SectionType.AUDIO_PLAYER: _Object({}),
    SectionType.GAMES: _Object({"gameIds": _CATALOGUE_IDS}),
    SectionType.ANIME: _Object({"animeIds": _CATALOGUE_IDS}),
    SectionType.MEDIA: _Object({"mediaIds": _CATALOGUE_IDS}),
    SectionType.MUSIC: _Object({"music": _Objects(_MUSIC, MAX_ITEMS, unique=("kind", "musicId"))}),
}
