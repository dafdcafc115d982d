"""What the checks of `manage.py doctor` find: every setting against the real thing, by what they look at."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"  # it works, and will hurt later
    FAILURE = "failure"


class Finding(NamedTuple):
    """`text`: what was seen. `fix`: what to do about it, empty where all is well."""

    level: Level
    text: str
    fix: str = ""


Check = Callable[[], Iterator[Finding]]


def ok(text: str) -> Finding:
    return Finding(Level.OK, text)


def warning(text: str, fix: str) -> Finding:
    return Finding(Level.WARNING, text, fix)


def failure(text: str, fix: str) -> Finding:
    return Finding(Level.FAILURE, text, fix)


def measured(found: float, *, most: float, text: str, fix: str) -> Finding:
    """Return a warning where there is more of it than `most`."""
    return warning(text, fix) if found > most else ok(text)
