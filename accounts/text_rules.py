"""Characters that texts and links must not hold, at every way in: forms, admin, imports, commands. Pure rules.

Control characters show nothing and break what reads them; bidirectional overrides show a text in another order than it
has; the user info of a link passes for its host. The marks U+200E, U+200F and U+061C belong to the writing of Arabic
and Hebrew and are allowed.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

# Marks of direction, and joiners of several scripts and of emoji: invisible by themselves.
MARKS = "\u061c\u200c\u200d\u200e\u200f"
_OVERRIDES = "\u202a-\u202e\u2066-\u2069"
_NOT_IN_LINES = re.compile(f"[\x00-\x1f\x7f-\x9f{_OVERRIDES}]")
# A text of several lines may contain tabs, line feeds, and the CR LF that HTML forms send.
_NOT_IN_TEXTS = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_OVERRIDES}]|\r(?!\n)")
# Finds a character that the database refuses, in lookups too: NUL, or half of a surrogate pair. The method itself, as
# lookups call it.
find_unstorable = re.compile("[\x00\ud800-\udfff]").search
_UNSAFE = "Contains a control character or a bidirectional override (U+{:04X}); remove it."
_valid_address = URLValidator(schemes=["http", "https"])


def problem_of_line(text: str) -> str | None:
    """Why `text` cannot be a name, a title or a link; None: it can."""
    return _problem(_NOT_IN_LINES.search(text))


def problem_of_text(text: str) -> str | None:
    """The same for a text of several lines."""
    return _problem(_NOT_IN_TEXTS.search(text))


def _problem(found: re.Match[str] | None) -> str | None:
    return found and _UNSAFE.format(ord(found[0]))


def cleaned_line(text: str) -> str:
    """`text` without what a line may not hold, for names that come from another service."""
    return _NOT_IN_LINES.sub("", text)


def validate_line(value: str) -> None:
    """Validator of a column of one line."""
    if problem := problem_of_line(value):
        raise ValidationError(problem, code="unsafe_character")


def validate_text(value: str) -> None:
    """Validator of a column of several lines."""
    if problem := problem_of_text(value):
        raise ValidationError(problem, code="unsafe_character")


def validate_web_address(value: str) -> None:
    """Validator of a link: http or https, without user info."""
    validate_line(value)
    _valid_address(value)
    if "@" in urlsplit(value).netloc:
        raise ValidationError("Remove the user name or password before the host.", code="user_info")
