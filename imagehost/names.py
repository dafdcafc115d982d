"""What a folder may be called, and which passwords it may have. Pure rules.

Each of them returns the value to keep, or raises ValueError with a sentence for the person who sent it.
"""

from __future__ import annotations

import unicodedata

MAX_LENGTH = 32  # characters, of a name and of a password

_JOINERS = "\u200c\u200d"  # of several scripts, and of emoji
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, marks of direction, halves of surrogate pairs, line separators


def folder_name(text: str) -> str:
    """In normal form C, without white space around it: what looks the same is the same name."""
    name = unicodedata.normalize("NFC", text).strip()
    _check(name, is_empty=not name.strip(_JOINERS))
    return name


def folder_password(text: str) -> str:
    """Exactly as it was sent: it must be typed the same again."""
    _check(text, is_empty=not text)
    return text


def _check(text: str, *, is_empty: bool) -> None:
    if is_empty:
        raise ValueError("Must not be empty.")
    if len(text) > MAX_LENGTH:
        raise ValueError(f"Has {len(text)} characters; at most {MAX_LENGTH} are allowed.")
    if any(character not in _JOINERS and unicodedata.category(character) in _UNSEEN for character in text):
        raise ValueError("Contains control or invisible characters.")
