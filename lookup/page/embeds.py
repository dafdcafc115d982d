"""Codes that show a file or an album on another site: links, Markdown, HTML and BBCode."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape
from django.utils.http import urlencode

_MARKDOWN = re.compile(r"([\\`*_\[\]<>#&|~@:$])")  # also references, mentions, emoji names and bare links
_BBCODE = str.maketrans("[]", "()")  # it has no escape


@dataclass(frozen=True)
class Embedded:
    """The target of a code: a film at `film`, else the picture at `picture`, else the title. It leads to `page`.

    `direct`: the file itself, empty for an album. All are absolute URLs. `width`, `height`: of the film or the picture,
    in pixels.
    """

    title: str
    page: str
    direct: str = ""
    picture: str = ""
    film: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Code:
    """`key`: unique among the codes of a page."""

    key: str
    label: str
    text: str


def oembed_address(url: str) -> str:
    """Return where consumers of oEmbed ask for a page, for the page's head. `url`: of the page, whole."""
    return f"{settings.BASE_URL}{reverse('oembed')}?{urlencode({'url': url, 'format': 'json'})}"


def codes(shown: Embedded) -> list[Code]:
    """Return all codes, the links first."""
    direct = [Code("direct", "Direct link", shown.direct)] if shown.direct else []
    return [
        *direct,
        Code("page", "Page link", shown.page),
        Code("markdown", "Markdown", _markdown(shown)),
        Code("html", "HTML", html(shown)),
        Code("bbcode", "BBCode", _bbcode(shown)),
    ]


def _markdown(shown: Embedded) -> str:
    """Return the Markdown, which has no films: the poster, or the title, leads to the page."""
    title = _MARKDOWN.sub(r"\\\1", shown.title)
    return f"[![{title}]({shown.picture})]({shown.page})" if shown.picture else f"[{title}]({shown.page})"


def html(shown: Embedded) -> str:
    """Return the HTML, which any page can hold: a film, a picture or a title that leads to the page; no script."""
    title, size = escape(shown.title), f'width="{shown.width}" height="{shown.height}"'
    if shown.film:
        poster = f' poster="{escape(shown.picture)}"' if shown.picture else ""
        return f'<video src="{escape(shown.film)}" title="{title}" {size}{poster} controls></video>'
    text = f'<img src="{escape(shown.picture)}" alt="{title}" {size}>' if shown.picture else title
    return f'<a href="{escape(shown.page)}">{text}</a>'


def _bbcode(shown: Embedded) -> str:
    if shown.film:
        return f"[video]{shown.film}[/video]"
    text = f"[img]{shown.picture}[/img]" if shown.picture else shown.title.translate(_BBCODE)
    return f"[url={shown.page}]{text}[/url]"
