"""Matching of uploads with folder rules. Pure rules."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Protocol, TypeVar

_ALSO_CALLED = {"jpeg": "jpg", "image/jpg": "image/jpeg"}


class RuleLike(Protocol):
    """A folder rule of the database or a form. `kind`: a value of `MatchKind`."""

    @property
    def kind(self) -> str: ...

    @property
    def pattern(self) -> str: ...


Rule = TypeVar("Rule", bound=RuleLike)


class FileLike(Protocol):
    """The file that rules match: its detected type, the stored extension and the original name."""

    @property
    def mime(self) -> str: ...

    @property
    def extension(self) -> str: ...

    @property
    def original_name(self) -> str: ...


def is_match(rule: RuleLike, file: FileLike) -> bool:
    """Return whether the whole value matches the rule's pattern, ignoring case; `*` and `?` as in a shell."""
    values = {"mime": file.mime, "extension": file.extension, "filename": file.original_name}
    return is_like(values[rule.kind], normal(rule.kind, rule.pattern))


def first_match(rules: Iterable[Rule], file: FileLike) -> Rule | None:
    """Return the first matching rule; None: the file goes to the root."""
    return next((rule for rule in rules if is_match(rule, file)), None)


def normal(kind: str, pattern: str) -> str:
    """Return the pattern as it is stored and compared: trimmed; types and extensions in lower case.

    An extension loses its dot (`.PNG` and `*.png` are `png`), and `jpeg` becomes `jpg`.
    """
    pattern = pattern.strip()
    if kind == "filename":
        return pattern
    pattern = pattern.lower()
    if kind == "extension":
        pattern = pattern.removeprefix("*").removeprefix(".") if pattern != "*" else pattern
    return _ALSO_CALLED.get(pattern, pattern)


def is_like(text: str, pattern: str) -> bool:
    """Return whether the whole text matches: `*` is any number of characters, `?` is one.

    Ignores case and the encoding of accents. Takes at most len(text) * len(pattern) steps: after a mismatch only the
    last `*` takes one character more, as a longer match of an earlier one would find nothing new.
    """
    text, pattern = _folded(text), _folded(pattern)
    at = place = 0
    star, taken = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, taken = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in {"?", text[at]}:
            at, place = at + 1, place + 1
        elif star >= 0:
            taken += 1
            at, place = taken, star + 1
        else:
            return False
    return not pattern[place:].strip("*")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())
