"""The themes of themes.toml: names with values of fields and settings that profiles have.

Picking a theme writes its values into the profile, so that every client reads them, and its name into `theme`. A value
that differs from the one that the current theme gives is the owner's own: it stays when another theme is picked. Names
that are not in the table are free text, as imports bring them: they give the defaults.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lookup.shapes import settings_schema

Json = dict[str, Any]  # Any: a JSON value
COLUMNS = ("font", "font_username")
# The background is one choice: where a color of it is the owner's own, all of it is.
_GROUND_COLORS = frozenset(f"colorsSettings.{name}" for name in ("backgroundColor", "primaryColor", "secondaryColor"))
_GROUND = _GROUND_COLORS | {"colorsSettings.gradient", "colorsSettings.gradientAngle"}
_SHORT_COLOR = re.compile(r"#[0-9A-Fa-f]{3}")


class Look(Protocol):
    """What a theme reads of a profile. `settings`: as they are stored."""

    theme: str
    font: str
    font_username: str
    settings: Any


@dataclass(frozen=True, slots=True)
class Theme:
    """`values` has one for each of PATHS; a path is a column, or a setting such as `cardSettings.blur`."""

    name: str
    about: str
    values: Json


def _read() -> dict[str, Theme]:
    read = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    named = {name: (row.pop("about"), _flat(row)) for name, row in read.items()}
    paths = dict.fromkeys([*COLUMNS, *(path for _, values in named.values() for path in values)])
    defaults = _flat(settings_schema.filled({})) | dict.fromkeys(COLUMNS, "")
    return {
        name: Theme(name, about, {path: values.get(path, defaults[path]) for path in paths})
        for name, (about, values) in named.items()
    }


def _flat(row: Mapping[str, Any]) -> Json:
    """Return the values of columns and settings by path."""
    values: Json = {}
    for key, value in row.items():
        values |= {f"{key}.{name}": one for name, one in value.items()} if isinstance(value, Mapping) else {key: value}
    return values


THEMES = _read()
STARTER = next(iter(THEMES.values()))
PATHS = tuple(STARTER.values)


def values_of(look: Look) -> Json:
    """Return what the profile has at each of PATHS."""
    has = _flat(settings_schema.filled(look.settings)) | {name: getattr(look, name) for name in COLUMNS}
    return {path: has[path] for path in PATHS}


def is_worn(look: Look) -> bool:
    """Return whether the profile has a value of its theme. Before there were themes, accounts had names like theirs."""
    theme = THEMES.get(look.theme, STARTER)
    return theme is STARTER or _wears(theme, values_of(look))


def own_changes(look: Look) -> list[str]:
    """Return the paths whose values differ from those of the theme, which are the owner's own."""
    has = values_of(look)
    given = _given(look.theme, has)
    return [path for path, value in has.items() if not _is_same(value, given[path])]


@dataclass(slots=True)
class _Nothing:
    """The look of a profile without any choice."""

    theme: str = ""
    font: str = ""
    font_username: str = ""
    settings: Any = field(default_factory=dict)


def plain(name: str) -> Json:
    """Return `theme`, `font`, `font_username` and `settings` of a profile that has only this theme."""
    return picked(_Nothing(), name)


def picked(look: Look, name: str, *, keeps_own: bool = True) -> Json:
    """Return `theme`, `font`, `font_username` and `settings` of the profile after it was given the theme `name`.

    Values that the current theme gives become those of the new one, others stay; without `keeps_own` all become those
    of the new one.
    """
    has, new = values_of(look), THEMES.get(name, STARTER).values
    own = {*own_changes(look)} if keeps_own else set()
    if own & _GROUND_COLORS:
        own |= _GROUND
    chosen: Json = {"theme": name, "settings": settings_schema.filled(look.settings)}
    for path, value in has.items():
        key, _, setting = path.partition(".")
        (chosen["settings"][key] if setting else chosen)[setting or key] = value if path in own else new[path]
    return chosen


def given(look: Look) -> Json:
    """Return what `plain` does, of the theme that the profile wears; of the defaults where it wears none."""
    return plain(look.theme if is_worn(look) else "")


def _given(name: str, has: Json) -> Json:
    """Return the values that a profile with these values has of its theme. A name that is not in the table gives the
    defaults, as the first theme does."""
    theme = THEMES.get(name, STARTER)
    return theme.values if _wears(theme, has) else STARTER.values


def _wears(theme: Theme, has: Json) -> bool:
    special = (path for path, value in theme.values.items() if value != STARTER.values[path])
    return any(_is_same(has[path], theme.values[path]) for path in special)


def _is_same(first: Any, second: Any) -> bool:
    return bool(first == second or _normal(first) == _normal(second))


def _normal(value: Any) -> Any:
    """Return a color in lower case, with six digits for three."""
    if not isinstance(value, str) or not value.startswith("#"):
        return value
    return ("#" + "".join(2 * digit for digit in value[1:]) if _SHORT_COLOR.fullmatch(value) else value).lower()
