"""Finds words in the pages: a plain ranked search over what readers see."""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass

from dashboard.apps.error_guide import anchor_of
from dashboard.documentation import contents, expansion, personalization, rendering
from dashboard.documentation.contents import Page

MAX_WORDS = 8
MAX_RESULTS = 20
_EXCERPT = 220  # characters
_WORD = re.compile(r"[a-z0-9]+(?:[_.:][a-z0-9]+)*")
_MOST_IN_TEXT = 5  # more of one word in one section do not make it a better answer


@dataclass(frozen=True)
class Section:
    """A heading of a page and the text below it, up to the next one."""

    page: Page
    heading: str
    anchor: str
    text: str
    words: Counter[str]

    @property
    def name(self) -> str:
        return f"{self.page.title}: {self.heading}" if self.anchor else self.page.title

    @property
    def url(self) -> str:
        return f"{self.page.path}#{self.anchor}" if self.anchor else self.page.path


@dataclass(frozen=True)
class Piece:
    """A part of an excerpt. `is_hit`: one of the words that were looked for."""

    text: str
    is_hit: bool


@dataclass(frozen=True)
class Result:
    """`same`: sections of other pages that have the same heading and text."""

    section: Section
    excerpt: tuple[Piece, ...]
    same: tuple[Section, ...]


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def find(query: str) -> list[Result]:
    """Pages that have every word of `query`, or words that begin so, the best first; of each its best section.

    A section whose heading, or page title, has more of the words comes first. Pages that say the same are one result.
    """
    wanted = list(dict.fromkeys(words_of(query)))[:MAX_WORDS]
    if not wanted:
        return []
    ranked: list[tuple[tuple[int, int], Section]] = []
    for sections in index():
        scores = [[_score(section, word) for word in wanted] for section in sections]
        if all(any(of_word) for of_word in zip(*scores, strict=True)):
            ranks = [
                (_named(each, wanted), sum(map(bool, of)), sum(of)) for each, of in zip(sections, scores, strict=True)
            ]
            best = max(range(len(sections)), key=ranks.__getitem__)
            ranked.append(((ranks[best][0], ranks[best][2]), sections[best]))
    ranked.sort(key=lambda found: found[0], reverse=True)  # stable: pages of one rank keep their order
    return _merged([section for _, section in ranked], wanted)[:MAX_RESULTS]


def _named(section: Section, wanted: list[str]) -> int:
    """How many of the words the heading has; a title counts as much as two, for the page itself."""
    heading = words_of(section.heading)
    hits = sum(any(known.startswith(word) for known in heading) for word in wanted)
    return hits if section.anchor else 2 * hits


def _merged(sections: list[Section], wanted: list[str]) -> list[Result]:
    """The first of the sections with one text stands for all of them."""
    same: dict[tuple[str, str], list[Section]] = {}
    for section in sections:
        same.setdefault((section.heading, section.text), []).append(section)
    return [Result(first, _excerpt(first.text, wanted), tuple(others)) for first, *others in same.values()]


@functools.cache
def index() -> tuple[list[Section], ...]:
    """The sections of every page."""
    return tuple(_sections(page) for page in contents.pages().values())


def _sections(page: Page) -> list[Section]:
    tokens = rendering.parse(personalization.visitor().fill(expansion.as_text(page)))
    found: list[tuple[str, list[str]]] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open" and before.tag in ("h1", "h2", "h3"):
            found.append((rendering.plain(token), []))
        elif token.type == "inline":
            found[-1][1].append(rendering.plain(token))
        elif token.type == "fence":
            found[-1][1].append(token.content)
    return [_section(page, heading, " ".join(" ".join(texts).split())) for heading, texts in found]


def _section(page: Page, heading: str, text: str) -> Section:
    anchor = "" if heading == page.title else anchor_of(heading)
    return Section(page, heading, anchor, text, Counter(words_of(text)))


def _score(section: Section, word: str) -> int:
    """0 where the section does not have it."""
    in_text = sum(count for known, count in section.words.items() if known.startswith(word))
    in_heading = any(known.startswith(word) for known in words_of(section.heading))
    return min(in_text, _MOST_IN_TEXT) + in_heading


def _excerpt(text: str, wanted: list[str]) -> tuple[Piece, ...]:
    """Around the first word that was looked for."""
    pattern = re.compile(rf"(?<![a-z0-9])({'|'.join(re.escape(word) for word in wanted)})", re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, first.start() - _EXCERPT // 3) if first else 0
    start = text.find(" ", start) + 1 if start else 0
    end = text.find(" ", start + _EXCERPT)
    end = len(text) if end < 0 else end
    cut = ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")
    return tuple(Piece(part, number % 2 == 1) for number, part in enumerate(pattern.split(cut)) if part)
