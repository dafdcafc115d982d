"""Fill a page's Markdown with what the code knows: the result is the Markdown source, without the reader's own ids.

A page holds blocks (```request, ```fields NAME, ```parameters OPERATION, ```json NAME), lines `{{ name word … }}` for
tables and ready code, and `{{ name }}` for values of this service. Drawings are SVG of drawings/, put into the page
itself so that the theme colors them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from django.conf import settings
from oauth2_provider.settings import oauth2_settings

from accounts import plans, rate_limits
from accounts.api_keys import keys
from dashboard.api_keys import queries as keys_queries
from dashboard.client_apps.error_guide import anchor_of
from dashboard.documentation import button_kit, endpoints, explorer, programs, reference, tables
from dashboard.documentation.contents import Page
from dashboard.imagehost import uploaders
from imagehost import media
from imagehost.folders import folders, rules
from oidc_provider import lifetimes, redirects
from oidc_provider.applications import application_rules
from oidc_provider.lifetimes import in_words

_MIMES = [f"`{type_.mime}`" for type_ in media.ALL]
_VALUE = re.compile(r"\{\{ (?!reader\.)(\w+) \}\}")


def fill(text: str) -> str:
    """Put the values in for `{{ name }}`. Raises KeyError for an unknown name."""
    known = values()
    return _VALUE.sub(lambda found: known[found[1]], text)


def values() -> dict[str, str]:
    """Return the values of the pages, by name."""
    known = {
        **_of_plans(),
        "base_url": settings.BASE_URL,
        "site_name": settings.SITE_NAME,
        "upload_cdn_url": settings.UPLOAD_CDN_URL,
        "asset_url": settings.ASSET_URL,
        "image_cdn_url": settings.IMAGE_CDN_URL,
        "protocol_limit": rate_limits.PROTOCOL.amount,
        "address_limit": rate_limits.API_ADDRESS.amount,
        "key_limit": rate_limits.API_KEY.amount,
        "premium_key_limit": rate_limits.API_PREMIUM_KEY.amount,
        "max_batch": rate_limits.MAX_BATCH,
        "batch_step": rate_limits.VALUES_OF_A_REQUEST,
        "batch_requests": rate_limits.batch_cost(rate_limits.MAX_BATCH),
        "code_lifetime": in_words(oauth2_settings.AUTHORIZATION_CODE_EXPIRE_SECONDS),
        "request_lifetime": in_words(int(settings.AUTHORIZATION_REQUEST_LIFETIME.total_seconds())),
        "access_seconds": oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS,
        "access_lifetime": in_words(oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS),
        "grace_period": lifetimes.GRACE_PERIOD,
        "refresh_lifetime": in_words(oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS),
        "id_token_lifetime": in_words(oauth2_settings.ID_TOKEN_EXPIRE_SECONDS),
        "image_types": f"{', '.join(_MIMES[:-1])} or {_MIMES[-1]}",
        "support": settings.SUPPORT_EMAIL or "the operators",
        "max_apps": application_rules.MAX_APPLICATIONS,
        "max_redirect_urls": redirects.MAX_URLS,
        "max_redirect_length": redirects.MAX_LENGTH,
        "max_keys": keys.MAX_LIVE,
        "uploader_keys": uploaders.MAX_A_DAY,
        "overlap_hours": keys.LONGEST_OVERLAP // timedelta(hours=1),
        "reminder_days": keys_queries.SOON.days,
        "max_folders": folders.MAX_FOLDERS,
        "max_rules": rules.MAX_RULES,
    }
    return {name: str(value) for name, value in known.items()}


def _of_plans() -> dict[str, str | int]:
    free, premium, imagehost = (plans.ALLOWANCES[plan] for plan in plans.Plan)
    return {
        "free_file": f"{free.max_file_size // plans.MEGABYTE} MB",
        "free_bytes": free.max_file_size,
        "free_storage": f"{free.max_storage // plans.GIGABYTE} GB",
        "premium_file": f"{premium.max_file_size // plans.MEGABYTE} MB",
        "premium_storage": f"{premium.max_storage // plans.GIGABYTE} GB",
        "imagehost_file": f"{imagehost.max_file_size // plans.MEGABYTE} MB",
        "imagehost_storage": f"{imagehost.max_storage // plans.GIGABYTE} GB",
    }


_DRAWINGS = Path(__file__).parent / "drawings"
_DESCRIPTION = re.compile(r"<desc[^>]*>(.*?)</desc>", re.DOTALL)


def drawing(name: str) -> str:
    return fill((_DRAWINGS / f"{name}.svg").read_text(encoding="utf-8"))


def description(name: str) -> str:
    """Return the description of the drawing, which is part of its SVG."""
    found = _DESCRIPTION.search(drawing(name))
    return found[1] if found else ""


_BLOCK = re.compile(r"^```(request|fields|parameters|json)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"^:::[^\n]*\n\n", re.MULTILINE)
_PICTURE = re.compile(r"^!\[(.*)\]\((\w+)\)$", re.MULTILINE)

_TABLES: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "errors": tables.errors,
        "oauth_errors": tables.oauth_errors,
        "error_guide": tables.error_guide_of,
        "oauth_guide": tables.oauth_guide_of,
        "settings": tables.settings,
        "settings_of": tables.settings_of,
        "scopes": tables.scopes,
        "reference": endpoints.index,
        "operation": endpoints.operation,
        "schemas": reference.schemas,
        "stacks": tables.stacks,
        "buttons": button_kit.markdown,
        "styled_buttons": button_kit.styled,
    }
)
_LINE = re.compile(rf"^\{{\{{ ({'|'.join(_TABLES)})((?: [\w-]+)*) \}}\}}$", re.MULTILINE)


@functools.cache
def expanded(page: Page) -> str:
    """Return Markdown that ends in a line break. Raises KeyError, ValueError: the page names what does not exist."""
    text = _BLOCK.sub(_block, page.source)
    text = _LINE.sub(lambda found: _TABLES[found[1]](*found[2].split()), text)
    return fill(text.replace(_INDEX, index_of(page) if _INDEX in text else ""))


_INDEX = "{{ parts }}"
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r'^(##+) (.+)$|^\| (\d{3}) \| `\{"error":"([^"]+)"', re.MULTILINE)


def index_of(page: Page) -> str:
    """Return a list of the parts of a page, each with its headings and errors, one line each.

    Rendered, an entry has the id of what it leads to: an address from before the page had parts leads to the entry.
    """
    lines = []
    for part in page.parts:
        lines.append(f"- [{part.title}]({part.path}): {part.summary}")
        heading, inner, names = "", "", tables.short_names(part.slug)
        for level, title, status, error in _ENTRY.findall(_CODE.sub("", expanded(part))):
            if level:
                heading, inner = title, "  " * (len(level) - 1)
                lines.append(f"{inner}- [{names.get(title, title)}]({part.path}#{anchor_of(title)})")
            else:
                anchor = anchor_of(f"{heading} {status} {error}")
                lines.append(f"  {inner}- [{status} {error}]({part.path}#{anchor})")
    return "\n".join(lines)


def without_index(page: Page) -> Page:
    """Return the page as a search reads it: without the words of its parts."""
    return replace(page, source=page.source.replace(_INDEX, "").replace("{{ reference }}", ""))


def as_text(page: Page) -> str:
    """Return the Markdown source: a drawing is its description, and choices follow each other."""
    text = explorer.without_blocks(_MARK.sub("", expanded(page)))
    return _PICTURE.sub(lambda found: f"(Picture: {found[1]}. {description(found[2])})", text)


def _block(found: re.Match[str]) -> str:
    kind, words, body = found[1], (found[2] or "").split(), found[3]
    if kind == "json":
        return f"```json\n{body}```"
    if kind == "fields":
        return tables.fields(words[0], body, form=words[1] if len(words) > 1 else "")
    if kind == "parameters":
        return tables.parameters(words[0], body)
    request = programs.parse(body)
    written = ((name, write(request, settings.BASE_URL)) for name, write in programs.LANGUAGES.items())
    return "\n\n".join(f"```{name}\n{program}\n```" for name, program in written)
