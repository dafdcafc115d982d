"""Find words in the pages: a ranked search over what readers see, by beginnings and stems of words and by synonyms."""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass

from dashboard.client_apps.error_guide import anchor_of
from dashboard.documentation import contents, expansion, personalization, rendering
from dashboard.documentation.contents import Page

MAX_WORDS = 8
MAX_RESULTS = 20
_EXCERPT = 220  # characters
_WORD = re.compile(r"[a-z0-9]+(?:[_.:][a-z0-9]+)*")
_MOST_IN_TEXT = 5  # more of one word in one section do not make it a better answer
_FILLERS = frozenset("a an and can do does for how i in is my of on or the to what with".split())
# What readers search for, and the word of the pages, both as stems.
_SYNONYMS = {
    "304": ("etag",),
    "backoff": ("retri",),
    "batch": ("sever",),
    "budget": ("limit",),
    "bulk": ("batch", "sever"),
    "cach": ("etag",),
    "condit": ("etag",),
    "delet": ("remov", "revok"),
    "embed": ("card",),
    "idempot": ("twice",),
    "invalid": ("revok",),
    "jwt": ("id_token",),
    "login": ("sign-in", "sign"),
    "logout": ("session",),
    "mani": ("batch", "sever"),
    "multipl": ("batch", "sever"),
    "page": ("pagin",),
    "pagin": ("offset",),
    "pictur": ("imag",),
    "poll": ("etag",),
    "quota": ("budget", "limit"),
    "regener": ("reset", "rotat"),
    "renew": ("refresh",),
    "rotat": ("reset",),
    "sdk": ("librari",),
    "throttl": ("limit",),
    "token": ("id_token",),
    "valid": ("verifi",),
}


@dataclass(frozen=True)
class Word:
    """A word of a page and its stem: "rotation", "rotat"."""

    text: str
    stem: str


@dataclass(frozen=True)
class Term:
    """A word of the query. Words that begin with `text` match, and words with one of the stems."""

    text: str
    stems: frozenset[str]

    def matches(self, word: Word) -> bool:
        return word.text.startswith(self.text) or word.stem in self.stems


@dataclass(frozen=True)
class Section:
    """A heading of a page and the text below it, up to the next one."""

    page: Page
    heading: str
    anchor: str
    text: str
    words: Counter[Word]
    heading_words: list[Word]

    @property
    def name(self) -> str:
        return f"{self.page.title}: {self.heading}" if self.anchor else self.page.title

    @property
    def url(self) -> str:
        return f"{self.page.path}#{self.anchor}" if self.anchor else self.page.path


@dataclass(frozen=True)
class Piece:
    """A part of an excerpt. `is_hit`: a word of the query."""

    text: str
    is_hit: bool


@dataclass(frozen=True)
class Result:
    """`same`: sections of other pages that have an equal heading and text."""

    section: Section
    excerpt: tuple[Piece, ...]
    same: tuple[Section, ...]


def words_of(text: str) -> list[Word]:
    import snowballstemmer  # its 30 languages take 3 MB, so it is loaded by the first search

    words = _WORD.findall(text.lower())
    stems = snowballstemmer.stemmer("english").stemWords(words)  # one for each call: a stemmer has a state
    return [Word(word, stem) for word, stem in zip(words, stems, strict=True)]


def find(query: str) -> list[Result]:
    """Return pages that have every word of `query`, in any form, the best first; of each its best section.

    A section whose heading, or page title, has more of the words comes first; a page of the reference comes after the
    guide. Pages that say the same are one result.
    """
    words = list(dict.fromkeys(words_of(query)))
    words = ([word for word in words if word.text not in _FILLERS] or words)[:MAX_WORDS]
    wanted = [Term(word.text, frozenset((word.stem, *_SYNONYMS.get(word.stem, ())))) for word in words]
    if not wanted:
        return []
    ranked: list[tuple[tuple[int, float, bool, int], Section]] = []
    for sections in index():
        scores = [[_score(section, word) for word in wanted] for section in sections]
        if all(any(of_word) for of_word in zip(*scores, strict=True)):
            ranks = [
                (*_named(each, wanted), sum(map(bool, of)), sum(of)) for each, of in zip(sections, scores, strict=True)
            ]
            best = max(range(len(sections)), key=ranks.__getitem__)
            named, share, _, score = ranks[best]
            is_guide = sections[best].page.group != "Reference"
            ranked.append(((named, share, is_guide, score), sections[best]))
    ranked.sort(key=lambda found: found[0], reverse=True)  # stable: pages of one rank keep their order
    same: dict[tuple[str, str], list[Section]] = {}
    for _, section in ranked:
        same.setdefault((section.heading, section.text), []).append(section)
    found = [Result(first, _excerpt(first.text, wanted), tuple(others)) for first, *others in same.values()]
    return found[:MAX_RESULTS]


def _named(section: Section, wanted: list[Term]) -> tuple[int, float]:
    """Return how many of the words the heading has, and their share of it; of a page's title 2 a word, and 1."""
    hits = sum(any(map(term.matches, section.heading_words)) for term in wanted)
    return (hits, hits / len(section.heading_words)) if section.anchor else (2 * hits, min(hits, 1))


@functools.cache
def index() -> tuple[list[Section], ...]:
    """Return the sections of every page."""
    return tuple(_sections(page) for page in contents.pages().values())


def _sections(page: Page) -> list[Section]:
    tokens = rendering.parse(personalization.visitor().fill(expansion.as_text(expansion.without_index(page))))
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
    return Section(page, heading, anchor, text, Counter(words_of(text)), words_of(heading))


def _score(section: Section, term: Term) -> int:
    """Return 0 where the section does not have it."""
    in_text = sum(count for word, count in section.words.items() if term.matches(word))
    return min(in_text, _MOST_IN_TEXT) + any(map(term.matches, section.heading_words))


def _excerpt(text: str, wanted: list[Term]) -> tuple[Piece, ...]:
    """Return the text around the first word that was looked for."""
    beginnings = sorted({re.escape(start) for term in wanted for start in (term.text, *term.stems)})
    pattern = re.compile(rf"(?<![a-z0-9])({'|'.join(beginnings)})", re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, first.start() - _EXCERPT // 3) if first else 0
    start = text.find(" ", start) + 1 if start else 0
    end = text.find(" ", start + _EXCERPT)
    end = len(text) if end < 0 else end
    cut = ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")
    return tuple(Piece(part, number % 2 == 1) for number, part in enumerate(pattern.split(cut)) if part)
