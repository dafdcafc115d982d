"""Syntax colours of code, as spans with the classes of components.css. The text does not change."""

from __future__ import annotations

import itertools
import re

from django.utils.html import escape
from django.utils.safestring import SafeString
from pygments import lexers, token

_LANGUAGES = frozenset({"sh", "python", "js", "ts", "json", "go", "php", "java", "html", "css"})
# The first of them that a token is, decides.
_CLASSES = (
    (token.Comment, "code-comment"),
    (token.String, "code-text"),
    (token.Number, "code-value"),
    (token.Keyword.Constant, "code-value"),
    (token.Keyword, "code-word"),
    (token.Name.Tag, "code-name"),
    (token.Name.Attribute, "code-name"),
    (token.Name.Function, "code-name"),
    (token.Name.Class, "code-name"),
    (token.Name.Decorator, "code-name"),
    (token.Name.Variable, "code-name"),
)
_PLACE = re.compile(r"\{\{ reader\.\w+ \}\}")  # filled in later: it must stay in one piece
_NAME = "ReaderPlaceZ"  # stands for one while the code is read: a name in every language


def coloured(code: str, language: str) -> SafeString:
    """Return HTML. `language`: its name in Markdown; code of a language without colours is only escaped."""
    if language not in _LANGUAGES:
        return escape(code)
    lexer = lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    parts = ((_class_of(kind), text) for kind, text in lexer.get_tokens(_PLACE.sub(_NAME, code)))
    html = "".join(
        _span(name, "".join(text for _, text in group))
        for name, group in itertools.groupby(parts, lambda part: part[0])
    )
    for place in _PLACE.findall(code):
        html = html.replace(_NAME, place, 1)
    return SafeString(html)


def _class_of(kind: token._TokenType) -> str:
    return next((name for known, name in _CLASSES if token.is_token_subtype(kind, known)), "")


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{escape(text)}</span>' if name and text.strip() else escape(text)
