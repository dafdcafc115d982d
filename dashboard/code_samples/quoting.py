"""How a language writes a string. What is quoted comes from the app's own settings, quotation marks and dollars too."""

from __future__ import annotations

import json
import shlex


class Verbatim(str):
    """Stands in the code as it is."""

    __slots__ = ()


def shell(text: str) -> str:
    return shlex.quote(text)


def double(text: str) -> str:
    """JavaScript, Python, Go, Java, YAML."""
    return json.dumps(text)


def php(text: str) -> str:
    """Single quotes: nothing is replaced inside them."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
