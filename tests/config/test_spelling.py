"""One spelling, unit and form of a date: the other ones are not in our texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APPS = ("accounts", "config", "dashboard", "demo", "imagehost", "infrastructure", "lookup", "oidc_provider", "presence")
TEXTS = {".css", ".html", ".js", ".md", ".py", ".svg", ".toml", ".txt", ".yaml"}
READ = ("templates/", "dashboard/documentation/", "static/js/")  # by people who use the pages
EVERYWHERE = [
    "e-mail",
    "colour",
    "behaviour",
    "favourite",
    r"\bcentred?\b",
    "recognis",
    "optimisa",
    r"serialise[sd]?\b",
    "neighbour",
]
FOR_PEOPLE = [
    r"\b[KMG]iB\b",  # a MB is 1,048,576 bytes, as the plans say
    r"\blog(ged|ging)? (in|out)\b",  # sign in, sign out
    r"\|date:\"(?!(c|j F|j F Y|F Y|Y-m-d|j F, H:i|j F, H:i:s|j F Y, H:i)\")",  # 25 November 2026, 19:41
]


def texts() -> dict[str, str]:
    """Our files by their path: code, pages, documentation."""
    folders = [ROOT / name for name in (*APPS, "docs", "templates", "static", "tests")]
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in TEXTS] + [
        ROOT / name for name in ("CONTRIBUTING.md", "README.md", "SECURITY.md")
    ]
    own = {Path(__file__)}
    return {
        str(path.relative_to(ROOT)): path.read_text()
        for path in paths
        if path not in own and "node_modules" not in path.parts
    }


@pytest.mark.parametrize("word", EVERYWHERE)
def test_a_word_has_one_spelling(word: str) -> None:
    assert _with(word, texts()) == []


@pytest.mark.parametrize("word", FOR_PEOPLE)
def test_pages_and_documentation_use_one_word_unit_and_date(word: str) -> None:
    assert _with(word, {path: text for path, text in texts().items() if path.startswith(READ)}) == []


def _with(word: str, found: dict[str, str]) -> list[str]:
    pattern = re.compile(word, re.IGNORECASE if word in EVERYWHERE else 0)
    return [
        f"{path}:{number}: {line.strip()}"
        for path, text in found.items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
