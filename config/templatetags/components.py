"""The components of pages, as tags in every template. Their HTML is in `templates/_components/`."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django import template
from django.template.base import FilterExpression, Node, NodeList, Parser, Token
from django.template.base import token_kwargs as keywords_of
from django.template.context import Context
from django.utils import formats, timezone
from django.utils.html import format_html, strip_spaces_between_tags
from django.utils.safestring import SafeString, mark_safe

from infrastructure.requests import kept_html

register = template.Library()

# How exactly a time is shown: its format, and whether the zone is named with it.
TIMES = {
    "day": ("j F Y", ""),
    "minute": ("j F Y, H:i", " UTC"),
    "second": ("j F Y, H:i:s", " UTC"),
    "short": ("j F Y, H:i", ""),
}
_TOKEN_PLACE = secrets.token_hex()  # stands for a form's token in kept HTML; random, so that no text of a user holds it
ROW_PARTS = ("title", "text", "acts", "endrow")
ROW = {"picture": "", "title": "", "text": "", "acts": "", "id": "", "pk": "", "is_off": False, "is_part": False}


@register.simple_tag
def time(at: datetime, exactness: str = "minute") -> SafeString:
    """Return the time for people and for programs. `exactness`: a key of TIMES."""
    local = timezone.localtime(at)
    form, zone = TIMES[exactness]
    return format_html('<time datetime="{}">{}{}</time>', local.isoformat(), formats.date_format(local, form), zone)


@register.filter
def utc(at: datetime) -> str:
    """Return the time for a text, as "25 November 2026, 19:41 UTC"; pages use `time`."""
    form, zone = TIMES["minute"]
    return formats.date_format(at.astimezone(UTC), form) + zone


@register.filter
def quoted(text: str) -> str:
    """Return a user's text as a quotation in an email, so that no line of it looks like one of ours."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


@register.simple_block_tag(takes_context=True)
def breadcrumb(context: Context, content: SafeString) -> SafeString:
    """Return the path to the page: links, and the name of the page where it is not the heading's."""
    return _rendered(context, "breadcrumb", content=_stripped(content))


@register.simple_block_tag(takes_context=True)
def panel(context: Context, content: SafeString, key: str, title: str, tone: str = "") -> SafeString:
    """Return a section with a heading. `key`: its id in the page. `tone`: "danger" for what cannot be undone."""
    return _rendered(context, "panel", key=key, title=title, tone=tone, content=content)


@register.simple_block_tag(takes_context=True)
def table(
    context: Context, content: SafeString, label: str, *columns: str, numbers: str | Sequence[str] = ()
) -> SafeString:
    """Return a table that scrolls sideways where it is wide; the content is its rows.

    `numbers`: columns whose values are aligned at their end; numbers that `columns` does not name follow them.
    """
    at_end = (numbers,) if isinstance(numbers, str) else tuple(numbers)
    names = (*columns, *(name for name in at_end if name not in columns))
    heads = [(name, name in at_end) for name in names]
    return _rendered(context, "table", label=label, heads=heads, content=content)


@register.simple_block_tag(takes_context=True)
def blank(context: Context, content: SafeString, title: str = "", level: int = 2) -> SafeString:
    """Return what a list without rows shows: what will appear there, and the first step. `level`: of its heading."""
    return _rendered(context, "blank", title=title, level=level, content=content)


@register.simple_block_tag(takes_context=True)
def side_nav(context: Context, content: SafeString, summary: str, label: str, wide_class: str = "") -> SafeString:
    """Return the menu of a layout, rendered once for narrow and wide pages and twice in the page, so without the white
    space between its tags. `wide_class`: of the one on wide pages."""
    menu = mark_safe(strip_spaces_between_tags(content.strip()))  # noqa: S308 - as safe as it was
    return _rendered(context, "side_nav", summary=summary, label=label, wide_class=wide_class, content=menu)


@register.tag
def row(parser: Parser, token: Token) -> RowNode:
    """Return a row of a list: a picture if any, `{% title %}`, `{% text %}` below it and `{% acts %}` at its end.

    `id`: of the row in the page; `pk`: of what it shows, for reordering; `is_off`: it is shown as switched off;
    `is_part`: it belongs to the row before it.
    """
    name, *bits = token.split_contents()
    options = keywords_of(bits, parser)
    if bits:
        raise template.TemplateSyntaxError(f"{name} takes keywords alone")
    parts, part = {}, "picture"
    while part != "endrow":
        parts[part] = parser.parse(ROW_PARTS)
        part = parser.next_token().contents
    return RowNode(parts, options)


class RowNode(template.Node):
    def __init__(self, parts: dict[str, NodeList], options: dict[str, FilterExpression]) -> None:
        self._parts = parts
        self._options = options

    def render(self, context: Context) -> SafeString:
        options = {name: value.resolve(context) for name, value in self._options.items()}
        parts = {name: _stripped(nodes.render(context)) for name, nodes in self._parts.items()}
        return _rendered(context, "row", **{**ROW, **options, **parts})


@register.tag
def kept(parser: Parser, token: Token) -> Node:
    """Return the content as it was rendered before under the same key, or render it and keep it.

    {% kept "name of the part" digest variable=value … [as html] %}…{% endkept %}

    The content sees the named variables alone, and the name and the digests say all that it shows of them; the token of
    its forms is put in later. Another release or other settings are another process, which has a memory of its own.
    """
    bits = token.split_contents()[1:]
    target = bits.pop() if bits[-2:-1] == ["as"] else ""
    key = [parser.compile_filter(bit) for bit in itertools.takewhile(lambda bit: "=" not in bit, bits)]
    values = keywords_of(bits[len(key) :], parser)
    content = parser.parse(("endkept",))
    parser.delete_first_token()
    return Kept(content, key, values, target)


class Kept(Node):
    def __init__(
        self, content: NodeList, key: list[FilterExpression], values: dict[str, FilterExpression], target: str
    ) -> None:
        self._content, self._key, self._values, self._target = content, key, values, target

    def render(self, context: Context) -> SafeString:
        key = kept_html.digest(*(part.resolve(context) for part in self._key))
        found = kept_html.find(key)
        if found is None:
            values = {variable: value.resolve(context) for variable, value in self._values.items()}
            html = self._content.render(context.new({**values, "csrf_token": _TOKEN_PLACE})).strip()
            kept_html.keep(key, html.encode())
        else:
            html = found.decode()
        if _TOKEN_PLACE in html:
            html = html.replace(_TOKEN_PLACE, str(context["csrf_token"]))
        if not self._target:
            return SafeString(html)
        context[self._target] = SafeString(html)
        return SafeString()


def _stripped(html: SafeString) -> SafeString:
    return SafeString(html.strip())


def _rendered(context: Context, name: str, **values: Any) -> SafeString:
    """Return the component with `values` and what the page knows. Any: all that a template can show."""
    with context.push(**values):
        component = context.template.engine.get_template(f"_components/{name}.html")  # type: ignore[union-attr]  # rendering
        return _stripped(component.render(context))
