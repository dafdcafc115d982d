"""Which names look the same to a person who reads them in a hurry. Pure rules."""

from __future__ import annotations

import unicodedata

# Drawn as a Latin letter, or nearly: digits, letters of the Cyrillic and the Greek alphabet, Latin ones with a stroke
# through them. Lower case alone, as names are folded first. I, l and 1 are one stroke, so all of them are l.
_STAND_FOR = {
    "o": "0\u043e\u03bf\u0585\u00f8",
    "l": "1i|!\u0456\u04cf\u03b9\u0131\u2113\u0142\u0268",
    "a": "@\u0430\u03b1\u0251",
    "b": "\u0432\u03b2\u0180",
    "c": "\u0441\u03f2",
    "d": "\u0501\u0111",
    "e": "3\u0435\u03b5",
    "g": "\u0261",
    "h": "\u043d\u04bb\u0127",
    "j": "\u0458\u03f3",
    "k": "\u043a\u03ba",
    "m": "\u043c",
    "n": "\u03b7",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "5$\u0455",
    "t": "7\u0442\u03c4\u0167",
    "u": "\u03c5",
    "v": "\u03bd",
    "w": "\u051d\u03c9",
    "x": "\u0445\u03c7",
    "y": "\u0443\u04af\u03b3",
}
# Greek capitals whose small letter looks like another Latin one, or like none.
_CAPITALS = str.maketrans({"\u0396": "z", "\u0397": "h", "\u039c": "m", "\u039d": "n", "\u03a5": "y"})
_TABLE = str.maketrans({drawn: letter for letter, many in _STAND_FOR.items() for drawn in many})


def skeleton(name: str) -> str:
    """What is left of `name` to the eye: no case, no accents, no gaps, one letter for all that are drawn like it.

    Empty for a name of signs alone. Two names look alike where their skeletons are equal.
    """
    folded = unicodedata.normalize("NFKD", name).translate(_CAPITALS).casefold().translate(_TABLE)
    folded = unicodedata.normalize("NFKD", folded).translate(_TABLE)
    return "".join(character for character in folded if character.isalnum())
