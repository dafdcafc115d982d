"""The Content-Disposition header of a delivered file (RFC 6266, RFC 8187)."""

import re
import unicodedata
from urllib.parse import quote

from imagehost import original_names

_ATTR_CHAR = "!#$&+-.^_`|~"  # RFC 8187 §3.2.1, beside letters and digits
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 !#$&'()+,.=@\[\]^_`{}~-]")
_NAMELESS = "file"


def disposition(download_name: str, *, attachment: bool = False) -> str:
    """The whole value, printable ASCII whatever the name holds: it can be split into no second header.

    `download_name` is what the browser offers when the file is saved; its ASCII reading is for those that do not know
    `filename*`. No name left: "file".
    """
    name = _tidy(download_name)
    kind = "attachment" if attachment else "inline"
    return f"{kind}; filename=\"{_plain(name)}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHAR)}"


def _tidy(name: str) -> str:
    return re.sub(r'[/\\"]', "_", original_names.shown(name, otherwise=_NAMELESS))


def _plain(name: str) -> str:
    """Accents fall off, the rest becomes underscores; runs of spaces shrink, for signatures over headers do so too."""
    letters = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join(_NOT_PLAIN.sub("_", letters).split()) or _NAMELESS
