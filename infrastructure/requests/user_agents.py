"""Names the browser and the system in a User-Agent header, for the list of sessions.

The five browsers and five systems that nearly all people use. Others keep their own words.
"""

from __future__ import annotations

import re

# In this order: Edge and Opera also say Chrome, and Chrome also says Safari.
_BROWSERS = (
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/(\d+)")),
    ("Opera", re.compile(r"\b(?:OPR|OPiOS)/(\d+)")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/(\d+)")),
    ("Chrome", re.compile(r"\b(?:Chrome|CriOS)/(\d+)")),
    ("Safari", re.compile(r"\bVersion/(\d+)[.\d]{0,20} (?:Mobile/\w{1,20} )?Safari/")),
)
# Android also says Linux, and phones of Apple also say Mac OS X.
_SYSTEMS = (
    ("iOS", re.compile(r"\b(?:iPhone|iPad|iPod)\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows NT\b")),
    ("macOS", re.compile(r"\bMacintosh\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)
UNKNOWN = "Unknown browser"
SHOWN = 40  # characters of the words of a program that is no known browser


def named(user_agent: str) -> str:
    """Return such as `Firefox 130 on Windows`; for another program, its own first word."""
    browser = next((f"{name} {found[1]}" for name, words in _BROWSERS if (found := words.search(user_agent))), "")
    system = next((name for name, words in _SYSTEMS if words.search(user_agent)), "")
    if not browser:
        first = user_agent.split(maxsplit=1)[:1]
        is_named = first and not first[0].startswith("Mozilla/")
        browser = first[0][:SHOWN] if is_named else UNKNOWN
    return f"{browser} on {system}" if system else browser
