"""The names that files came with, made fit to be shown and to be unpacked. Pure rules."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

# They turn the reading direction: "exe.png" is shown for "gnp.exe".
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}  # controls, lone surrogates, line and paragraph separators
_UNSAFE = re.compile(r'[/\\:*?"<>|]')  # between folders somewhere, or in no file's name
_ENDINGS = re.compile(r"\.(png|apng|jpe?g|jpe|jfif|webp|gif|avif|mp4|m4v|webm|mov|qt)\Z", re.IGNORECASE)
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|\Z)", re.IGNORECASE)
_MAX_STEM = 180  # bytes of UTF-8: with a number and an extension still less than the 255 of most file systems


def shown(name: str, *, otherwise: str) -> str:
    """`name` as a line of text that reads as it is written; `otherwise` where nothing is left of it."""
    kept = (char for char in name if unicodedata.category(char) not in _UNSEEN and char not in _BIDI)
    return "".join(kept).strip() or otherwise


def unpacked(names: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """What files are called in an archive: (original name, generated name, stored extension) of each, in order.

    No path, nothing hidden, no device of Windows, nothing that looks like an option; the extension is the stored one;
    no two are the same, nor on systems that take upper case and lower case for the same.
    """
    taken: set[str] = set()
    used: Counter[str] = Counter()
    for original, generated, extension in names:
        stem = _stem(original) or generated
        name = f"{stem}.{extension}"
        while _folded(name) in taken:
            used[_folded(stem)] += 1
            name = f"{stem} ({used[_folded(stem)] + 1}).{extension}"
        taken.add(_folded(name))
        yield name


def _stem(original: str) -> str:
    """Without its extension; empty where nothing is left."""
    plain = _UNSAFE.sub("_", shown(unicodedata.normalize("NFC", original), otherwise=""))
    stem = _ENDINGS.sub("", plain).lstrip(".-~ ")
    stem = stem.encode("utf-8", "ignore")[:_MAX_STEM].decode("utf-8", "ignore").rstrip(". ")
    return f"_{stem}" if _DEVICES.match(stem) else stem


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
