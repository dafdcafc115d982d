"""What texts and links must and must not hold, at every way in: forms, admin, imports, commands. Pure rules.

Control characters show nothing and break what reads them; bidirectional overrides show a text in another order than it
has; the user info of a link passes for its host. The marks U+200E, U+200F and U+061C belong to the writing of Arabic
and Hebrew and are allowed. A text that is shown holds something that can be seen: a letter, digit, sign or emoji.
"""

from __future__ import annotations

import re
import unicodedata
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
# Tags, which the flags of regions are made of, besides.
_NEEDED = re.compile(f"[{MARKS}\U000e0020-\U000e007f]").match
# Finds a letter or sign that shows nothing: the fillers of Hangul, the blanks of braille, hieroglyphs and musical
# notation, the place of an object, and code points that are reserved for invisible characters.
find_filler = re.compile(
    "[\u115f\u1160\u2065\u2800\u3164\uffa0\ufff0-\ufff8\ufffc\U00013441\U00013442\U0001d159\U000e0000-\U000e0fff]"
).search
# Accents and vowel points, which people leave out when they type: of Latin, Greek, Cyrillic, Hebrew and Arabic. Marks
# of other scripts make another letter, and stay. Variation selectors show nothing by themselves.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)
# Controls, format characters and halves of surrogate pairs; separators and marks are known by their first letter.
_HIDDEN = {"Cc", "Cf", "Cs"}
NOTHING_TO_SEE = "Contains nothing that can be seen; write letters, digits, signs or emoji."
_UNSAFE = "Contains a control character or a bidirectional override (U+{:04X}); remove it."
_valid_address = URLValidator(schemes=["http", "https"])


def has_something_to_see(text: str) -> bool:
    """Return whether any character of `text` shows something by itself. A mark without its letter does not."""
    return any(
        (category := unicodedata.category(character))[0] not in "MZ"
        and category not in _HIDDEN
        and not find_filler(character)
        for character in text
    )


def folded(text: str) -> str:
    """Return `text` as searches compare it: without case, accents, width and format characters (NFKC, full case
    folding). Idempotent."""
    return unicodedata.normalize("NFKC", _plain(_plain(text).casefold()))


def _plain(text: str) -> str:
    letters = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


def find_hidden(text: str) -> str | None:
    """Return the first invisible character of `text` that no script and no emoji needs; None: there is none."""
    return next((one for one in text if unicodedata.category(one) in _HIDDEN and not _NEEDED(one)), None)


def problem_of_line(text: str) -> str | None:
    """Return why `text` cannot be a name, a title or a link; None where it can."""
    return _problem(_NOT_IN_LINES.search(text))


def problem_of_text(text: str) -> str | None:
    """Return why `text` cannot be a text of several lines; None where it can."""
    return _problem(_NOT_IN_TEXTS.search(text))


def _problem(found: re.Match[str] | None) -> str | None:
    return found and _UNSAFE.format(ord(found[0]))


def cleaned_line(text: str) -> str:
    """Return `text` without what a line may not hold, for names that come from another service."""
    return _NOT_IN_LINES.sub("", text)


def validate_line(value: str) -> None:
    """Validate a column of one line that is shown."""
    _validate(value, problem_of_line(value))


def validate_text(value: str) -> None:
    """Validate a column of several lines that is shown."""
    _validate(value, problem_of_text(value))


def _validate(value: str, problem: str | None) -> None:
    """Raise ValidationError with `problem`, or where the text shows nothing. `blank` decides on an empty value."""
    if problem:
        raise ValidationError(problem, code="unsafe_character")
    if value and not has_something_to_see(value):
        raise ValidationError(NOTHING_TO_SEE, code="nothing_to_see")


def validate_web_address(value: str) -> None:
    """Validate a link: http or https, without user info."""
    validate_line(value)
    _valid_address(value)
    if "@" in urlsplit(value).netloc:
        raise ValidationError("Remove the user name or password before the host.", code="user_info")
