"""The names that files came with, made safe to show, to unpack and to send in a header. Pure rules."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from imagehost import media

# They turn the reading direction: "exe.png" is shown for "gnp.exe".
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}  # controls, lone surrogates, line and paragraph separators
_UNSAFE = re.compile(r'[/\\:*?"<>|]')  # between folders somewhere, or in no file's name
_EXTENSIONS = "|".join(name for type_ in media.ALL for name in (type_.extension, *type_.other_extensions))
_ENDINGS = re.compile(rf"\.({_EXTENSIONS})\Z", re.IGNORECASE)
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|\Z)", re.IGNORECASE)
_MAX_STEM = 180  # bytes of UTF-8: with a number and an extension still less than the 255 of most file systems
_ATTR_CHAR = "!#$&+-.^_`|~"  # RFC 8187 §3.2.1, beside letters and digits
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 !#$&'()+,.=@\[\]^_`{}~-]")
_NAMELESS = "file"


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


def disposition(download_name: str, *, attachment: bool = False) -> str:
    """The value of Content-Disposition (RFC 6266, RFC 8187): printable ASCII, so it cannot begin another header.

    `download_name` is what the browser offers when the file is saved; its ASCII form is for clients that do not know
    `filename*`. Without a usable character: "file".
    """
    name = re.sub(r'[/\\"]', "_", shown(download_name, otherwise=_NAMELESS))
    kind = "attachment" if attachment else "inline"
    return f"{kind}; filename=\"{_plain(name)}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHAR)}"


def _plain(name: str) -> str:
    """Without accents, other characters as underscores; runs of spaces shrink, as in signatures over headers."""
    letters = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join(_NOT_PLAIN.sub("_", letters).split()) or _NAMELESS


def _stem(original: str) -> str:
    """Without its extension; empty where nothing is left."""
    plain = _UNSAFE.sub("_", shown(unicodedata.normalize("NFC", original), otherwise=""))
    stem = _ENDINGS.sub("", plain).lstrip(".-~ ")
    stem = stem.encode("utf-8", "ignore")[:_MAX_STEM].decode("utf-8", "ignore").rstrip(". ")
    return f"_{stem}" if _DEVICES.match(stem) else stem


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
