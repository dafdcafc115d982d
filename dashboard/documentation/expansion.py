"""A page's Markdown, with everything in it that the code knows: the Markdown twin, but for the reader's own ids.

In a page stand blocks (```request, ```fields NAME, ```parameters OPERATION, ```json NAME), lines `{{ name word … }}`
for tables, and `{{ name }}` for values of this service.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from django.conf import settings

from dashboard.documentation import facts, pictures, programs, reference, samples, tables
from dashboard.documentation.contents import Page

_BLOCK = re.compile(r"^```(request|fields|parameters|json)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(
    r"^\{\{ (errors|oauth_errors|all_errors|all_oauth_errors|settings|scopes|reference)((?: \w+)*) \}\}$", re.MULTILINE
)
_PICTURE = re.compile(r"^!\[(.*)\]\((\w+)\)$", re.MULTILINE)

_TABLES: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "errors": tables.errors,
        "oauth_errors": tables.oauth_errors,
        "all_errors": tables.all_errors,
        "all_oauth_errors": tables.all_oauth_errors,
        "settings": tables.settings,
        "scopes": tables.scopes,
        "reference": reference.markdown,
    }
)


@functools.cache
def expanded(page: Page) -> str:
    """Ends in a line break. KeyError, ValueError: the page asks for what there is not."""
    text = _BLOCK.sub(_block, page.source)
    text = _LINE.sub(lambda found: _TABLES[found[1]](*found[2].split()), text)
    return facts.fill(text)


def as_text(page: Page) -> str:
    """For the twin: what a picture shows stands there in words."""
    return _PICTURE.sub(lambda found: f"(Picture: {found[1]}. {pictures.description(found[2])})", expanded(page))


def _block(found: re.Match[str]) -> str:
    kind, words, body = found[1], (found[2] or "").split(), found[3]
    if kind == "json":
        return f"```json\n{body}```"
    if kind == "fields":
        return tables.fields(words[0], body, form=words[1] if len(words) > 1 else "")
    if kind == "parameters":
        return tables.parameters(words[0], body)
    request = samples.parse(body)
    written = ((name, write(request, settings.BASE_URL)) for name, write in programs.LANGUAGES.items())
    return "\n\n".join(f"```{name}\n{program}\n```" for name, program in written)
