"""Makes HTML of a page's Markdown. There is no way to write HTML in it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from dashboard.apps.error_guide import anchor_of
from dashboard.documentation import expansion

LABELS = {"sh": "curl", "python": "Python", "js": "JavaScript", "json": "JSON", "text": "Text", "http": "HTTP"}
_SAMPLES = ("sh", "python", "js")


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Rendered:
    """`lead`: the part above the first heading of the second level; `rest`: from there on. `headings`: of it."""

    lead: SafeString
    rest: SafeString
    headings: tuple[Heading, ...]


@functools.lru_cache(maxsize=256)
def rendered(markdown: str) -> Rendered:
    """`markdown` is ours, never a visitor's."""
    parser = _parser()
    tokens = parser.parse(markdown)
    headings = _name_headings(tokens)
    _label_blocks(tokens)
    html = parser.renderer.render(tokens, parser.options, {})
    lead, heading, rest = html.partition("<h2 ")
    return Rendered(SafeString(lead), SafeString(heading + rest), tuple(each for each in headings if each.level == 2))


def plain(inline: Token) -> str:
    """What a reader sees of a heading, a paragraph or a cell."""
    return "".join(
        child.content if child.type in ("text", "code_inline") else " " * (child.type == "softbreak")
        for child in inline.children or ()
    )


@functools.cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}, renderer_cls=PageRenderer).enable("table")


def parse(markdown: str) -> list[Token]:
    """Return the tokens, for readers of the text alone."""
    return _parser().parse(markdown)


class PageRenderer(RendererHTML):
    """With the classes of our style sheets, tables that scroll by themselves, code that can be copied, our pictures."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        number, label = token.meta["number"], LABELS[token.info]
        html = (
            f'<div class="snippet" data-language="{token.info}"><div class="snippet__head"><span>{label}</span>'
            f'<button class="button button--quiet button--small" type="button" hidden data-copy="code-{number}" '
            f'aria-label="Copy {label}">Copy</button></div>'
            f'<pre tabindex="0"><code id="code-{number}">{escape(token.content.rstrip())}</code></pre></div>\n'
        )
        if token.info in _SAMPLES and not _is_sample(tokens, idx - 1):
            html = f'<div class="samples">{html}'
        if token.info in _SAMPLES and not _is_sample(tokens, idx + 1):
            html += "</div>"
        return html

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        label = escape(tokens[idx].meta["label"])
        return f'<div class="table-wrap" tabindex="0" role="region" aria-label="{label}"><table class="table">\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<th scope="col">'

    def bullet_list_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<ul class="bullets">\n'

    def ordered_list_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<ol class="steps">\n'

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return expansion.drawing(str(tokens[idx].attrs["src"]))


def _is_sample(tokens: Sequence[Token], index: int) -> bool:
    return 0 <= index < len(tokens) and tokens[index].type == "fence" and tokens[index].info in _SAMPLES


def _name_headings(tokens: list[Token]) -> list[Heading]:
    """Give each heading an id of its own."""
    found: list[Heading] = []
    taken: dict[str, int] = {}
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = plain(inline)
        anchor = anchor_of(text)
        taken[anchor] = taken.get(anchor, 0) + 1
        anchor += f"-{taken[anchor]}" if taken[anchor] > 1 else ""
        opening.attrSet("id", anchor)
        found.append(Heading(int(opening.tag[1]), text, anchor))
    return found


def _label_blocks(tokens: list[Token]) -> None:
    """Number the code, and name each table after the heading above it."""
    heading, number, tables = "", 0, 0
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading, tables = plain(tokens[index + 1]), 0
        elif token.type == "table_open":
            tables += 1
            token.meta["label"] = heading if tables == 1 else f"{heading}, table {tables}"
        elif token.type == "fence":
            number += 1
            token.meta["number"] = number


def links_of(tokens: list[Token]) -> list[str]:
    """Where the page leads."""
    inline: list[Any] = [child for token in tokens for child in token.children or ()]
    return [str(child.attrs["href"]) for child in inline if child.type == "link_open"]
