"""Make HTML of a page's Markdown, which cannot contain HTML."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from dashboard.client_apps.code_samples import colored
from dashboard.client_apps.error_guide import anchor_of
from dashboard.documentation import button_kit, expansion, explorer, reference
from infrastructure.once import once

LABELS = {
    "sh": "curl",
    "python": "Python",
    "js": "JavaScript",
    "json": "JSON",
    "text": "Text",
    "http": "HTTP",
    "ts": "TypeScript",
    "go": "Go",
    "php": "PHP",
    "java": "Java",
    "html": "HTML",
    "css": "CSS",
}
_SAMPLES = ("sh", "python", "js")
_CHOICES, _END = ":::choices ", ":::"
# The HTML of tokens whose tags have a class or a frame of ours.
_TAGS = {
    "table_close": "</table></div>\n",
    "bullet_list_open": '<ul class="bullets">\n',
    "ordered_list_open": '<ol class="steps">\n',
    "choices_close": "</div></fieldset>\n",
}
_ROLES = {
    "table_open": "table",
    "thead_open": "rowgroup",
    "tbody_open": "rowgroup",
    "tr_open": "row",
    "th_open": "columnheader",
    "td_open": "cell",
}
_STACKED = 3  # columns of a table from which on a narrow page stacks the cells of a row
_ERROR = re.compile(r'\{"error":"([^"]+)"')  # the second cell in a table of errors
MAX_CONTENTS = 30  # entries of "On this page"; with more, headings of the third level are left out


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Rendered:
    """`lead`: the part above the first heading of the second level; `rest`: from there on.

    `headings`: what "On this page" lists.
    """

    lead: SafeString
    rest: SafeString
    headings: tuple[Heading, ...]


@functools.lru_cache(maxsize=256)
def rendered(markdown: str) -> Rendered:
    """Return HTML of our own `markdown`, never a visitor's."""
    tokens = parse(markdown)
    headings = _name_headings(tokens)
    _label_blocks(tokens)
    _label_cells(tokens)
    _name_entries(tokens, {heading.anchor for heading in headings})
    _mark_choices(tokens)
    _link_headings(tokens)
    lead, *sections = _split(tokens)
    html = "".join(_section(section) for section in sections)
    choices = {str(token.attrs["id"]) for token in tokens if token.type == "heading_open" and "choice" in token.meta}
    listed = [each for each in headings if each.level in (2, 3) and each.anchor not in choices]
    listed = [each for each in listed if each.level == 2 or len(listed) <= MAX_CONTENTS]
    return Rendered(SafeString(_html(lead)), SafeString(html), tuple(listed))


def _split(tokens: list[Token]) -> list[list[Token]]:
    """Return what comes before the first heading of the second level, then each such heading with what follows."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.type == "heading_open" and token.tag == "h2":
            parts.append([])
        parts[-1].append(token)
    return parts


def _section(tokens: list[Token]) -> str:
    """Put code next to the text where the section has a table too: its first code up to its first subheading."""
    subheading = next((at for at, each in enumerate(tokens) if at and each.type == "heading_open"), len(tokens))
    fences = [at for at, each in enumerate(tokens[:subheading]) if each.type == "fence"]
    start, end = (fences[0], fences[-1] + 1) if fences else (0, 0)
    between = {each.type for each in tokens[start:end]}
    text = [*tokens[:start], *tokens[end:]]
    if not fences or "table_open" in between or not any(each.type == "table_open" for each in text):
        return _html(tokens)
    return (
        f'<div class="beside"><div class="beside__text">{_html(tokens[:start])}</div>'
        f'<div class="beside__code">{_html(tokens[start:end])}</div>'
        f'<div class="beside__text">{_html(tokens[end:])}</div></div>\n'
    )


def _html(tokens: list[Token]) -> str:
    parser = _parser()
    return str(parser.renderer.render(tokens, parser.options, {}))


def html_of(markdown: str) -> str:
    """Return the HTML of a text without code and tables. `markdown` is ours."""
    return _html(parse(markdown))


def plain(inline: Token) -> str:
    """Return what a reader sees of a heading, a paragraph or a cell."""
    return "".join(
        child.content if child.type in ("text", "code_inline") else " " * (child.type == "softbreak")
        for child in inline.children or ()
    )


@once
def _parser() -> MarkdownIt:
    """Return the parser of all threads, with its tables of rules: it fills them at the first use, and another thread
    would find half of them."""
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=PageRenderer).enable("table")
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules()
    return parser


def parse(markdown: str) -> list[Token]:
    """Return the tokens, for readers of only the text."""
    return _parser().parse(markdown)


class PageRenderer(RendererHTML):
    """With the classes of our style sheets, tables that scroll by themselves, code that can be copied, our pictures."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        language, _, file = token.info.partition(" ")
        if language == "explorer":
            return explorer.html(file)
        number, label = token.meta["number"], f"{file} · {LABELS[language]}" if file else LABELS[language]
        code, path = colored(token.content.rstrip(), language), button_kit.download_path(file)
        download = f'<a class="snippet__download" href="{path}" download aria-label="Download {file}">Download</a>'
        html = button_kit.preview(file) + (
            f'<div class="snippet" data-language="{language}"><div class="snippet__head"><span>{label}</span>'
            f'<button class="button button--quiet button--small" type="button" hidden '
            f'data-copy="code-{number}" aria-label="Copy {label}">Copy</button>{download * bool(path)}</div>'
            f'<pre tabindex="0"><code id="code-{number}">{code}</code></pre></div>\n'
        )
        if language in _SAMPLES and not _is_sample(tokens, idx - 1):
            html = f'<div class="samples">{html}'
        if language in _SAMPLES and not _is_sample(tokens, idx + 1):
            html += "</div>"
        return html

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        label, is_stacked = escape(tokens[idx].meta["label"]), "role" in tokens[idx].attrs
        table = '<table class="table table--stacked" role="table">' if is_stacked else '<table class="table">'
        return f'<div class="table-wrap" tabindex="0" role="region" aria-label="{label}">{table}\n'

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return reference.labelled(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<code>{reference.labelled(tokens[idx].content)}</code>"

    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: N802 - theirs
        return _TAGS.get(tokens[idx].type) or super().renderToken(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return expansion.drawing(str(tokens[idx].attrs["src"]))

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Close the panel before a heading that is a choice, and open its own with a radio button."""
        html = self.renderToken(tokens, idx, options, env)
        if tokens[idx].meta.get("is_link"):
            html += f'<a class="heading-link" href="#{tokens[idx].attrs["id"]}">'
        if "choice" not in tokens[idx].meta:
            return html
        number, label = tokens[idx].meta["choice"], escape(plain(tokens[idx + 1]))
        return (
            f"{'</div>' if number > 1 else ''}"
            f'<input class="tabbed__radio" type="radio" name="choice" id="choice-{number}"{" checked" * (number == 1)}>'
            f'<label class="tabbed__label" for="choice-{number}">{label}</label><div class="tabbed__panel">{html}'
        )

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</a>" * bool(tokens[idx].meta.get("is_link")) + self.renderToken(tokens, idx, options, env)

    def choices_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<fieldset class="tabbed"><legend class="tabbed__legend">{escape(tokens[idx].content)}</legend>\n'


def _mark_choices(tokens: list[Token]) -> None:
    """Mark choices: between `:::choices LEGEND` and `:::` each heading of the third level is one. One block a page."""
    number = 0
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h3" and number:
            token.meta["choice"] = number
            number += 1
        elif token.type == "inline" and token.content.startswith(_CHOICES):
            number = 1
            _replace_paragraph(tokens, at, Token("choices_open", "", 1, content=token.content.removeprefix(_CHOICES)))
        elif token.type == "inline" and token.content == _END:
            number = 0
            _replace_paragraph(tokens, at, Token("choices_close", "", -1))


def _replace_paragraph(tokens: list[Token], at: int, token: Token) -> None:
    """Replace a paragraph; `at`: of its inline token. The list keeps its length."""
    tokens[at - 1 : at + 2] = [token, Token("text", "", 0), Token("text", "", 0)]


def _link_headings(tokens: list[Token]) -> None:
    """Make each heading below the page's own, and without a link in it, a link to itself."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "heading_open" and opening.tag != "h1" and "choice" not in opening.meta:
            has_link = any(child.type == "link_open" for child in inline.children or ())
            opening.meta["is_link"] = closing.meta["is_link"] = not has_link


def _label_cells(tokens: list[Token]) -> None:
    """Name the cells of a table of three columns or more after their columns.

    A narrow page shows such a row as a list of them. That takes the meaning of a table from its tags, so the roles of
    ARIA have it too.
    """
    names: list[str] = []
    column = 0
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            names = _columns(tokens[at:])
        elif token.type == "tr_open":
            column = 0
        if token.type == "th_open":
            token.attrSet("scope", "col")
        if len(names) < _STACKED or token.type not in _ROLES:
            continue
        token.attrSet("role", _ROLES[token.type])
        if token.type == "td_open":
            token.attrSet("data-label", names[column])
            column += 1


def _columns(tokens: list[Token]) -> list[str]:
    """Return the names of the columns of the table that begins the tokens."""
    end = next(at for at, token in enumerate(tokens) if token.type == "thead_close")
    return [plain(tokens[at + 1]) for at in range(end) if tokens[at].type == "th_open"]


def _is_sample(tokens: Sequence[Token], index: int) -> bool:
    return 0 <= index < len(tokens) and tokens[index].type == "fence" and tokens[index].info.split()[0] in _SAMPLES


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
    """Number the code, name each table after the heading above it, and give each row of an error an id."""
    heading, number, tables = "", 0, 0
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading, tables = plain(tokens[index + 1]), 0
        elif token.type == "tr_open" and (error := _ERROR.match(plain(tokens[index + 5]))):
            status = plain(tokens[index + 2])
            token.attrSet("id", anchor_of(f"{heading} {status} {error[1]}"))
        elif token.type == "table_open":
            tables += 1
            token.meta["label"] = heading if tables == 1 else f"{heading}, table {tables}"
        elif token.type == "fence":
            number += 1
            token.meta["number"] = number


def _name_entries(tokens: list[Token], taken: set[str]) -> None:
    """Give an entry that begins with a link to a page the id of what it leads to, where that is not `taken`."""
    for opening, inline in zip(tokens, tokens[2:], strict=False):
        children = inline.children or []
        if opening.type not in ("list_item_open", "tr_open") or not children or children[0].type != "link_open":
            continue
        path, _, fragment = str(children[0].attrs["href"]).partition("#")
        name = itertools.takewhile(lambda child: child.type != "link_close", children[1:])
        anchor = fragment or anchor_of("".join(child.content for child in name))
        if path.startswith("/docs/") and anchor not in taken:
            taken.add(anchor)
            opening.attrSet("id", anchor)
