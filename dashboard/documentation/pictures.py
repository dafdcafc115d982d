"""The drawn pictures: SVG of drawings/, in the page itself so that the theme colours them."""

from __future__ import annotations

import re
from pathlib import Path

from dashboard.documentation import facts

_FOLDER = Path(__file__).parent / "drawings"
_DESCRIPTION = re.compile(r"<desc[^>]*>(.*?)</desc>", re.DOTALL)


def markup(name: str) -> str:
    return facts.fill((_FOLDER / f"{name}.svg").read_text(encoding="utf-8"))


def description(name: str) -> str:
    """What the picture shows, in words; it stands in the picture too."""
    found = _DESCRIPTION.search(markup(name))
    return found[1] if found else ""
