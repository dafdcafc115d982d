"""Ready code for several stacks, with the real values of an app. The secret is always read from the environment."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.text import slugify

from dashboard.apps.code_samples import stacks
from dashboard.apps.code_samples.stacks import STACKS, Stack
from oidc_provider.models import Application

_SOURCES = Path(__file__).parent / "sources"
_PLACE = re.compile(r"<<(?P<name>[a-z_]+)(?P<raw>:raw)?>>")
DEFAULT_PORT = 3000


@dataclass(frozen=True)
class Sample:
    """`code`: whole, ready to save under `stack.file`. `callback_url`: where the library takes its callback, whatever
    was chosen; None where it takes the chosen one. `is_callback_registered`: whether that one is."""

    stack: Stack
    code: str
    callback_url: str | None
    is_callback_registered: bool


def samples_of(application: Application, redirect_url: str) -> list[Sample]:
    """One for each stack; `redirect_url`: one of the app's."""
    return [_sample(stack, application, redirect_url) for stack in STACKS]


def _sample(stack: Stack, application: Application, redirect_url: str) -> Sample:
    slug = slugify(settings.SITE_NAME) or "provider"
    callback_url = None
    if stack.callback_path:
        parts = urlsplit(redirect_url)
        origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else "https://app.example.org"
        callback_url = f"{origin}{stack.callback_path.format(slug=slug)}"
    return Sample(
        stack,
        _filled(_source(stack.source), _values(application, redirect_url, slug, stack.quote), stack.quote),
        callback_url,
        is_callback_registered=callback_url is None or application.redirect_uri_allowed(callback_url),
    )


def _values(
    application: Application, redirect_url: str, slug: str, quote: Callable[[str], str]
) -> dict[str, str | int | stacks.Verbatim]:
    """The values of the placeholders between << and >>."""
    parts, scopes = urlsplit(redirect_url), application.registered_scopes
    items = ", ".join(quote(name) for name in scopes)
    return {
        "issuer": settings.BASE_URL,
        "site_name": settings.SITE_NAME,
        "slug": slug,
        "client_id": application.client_id,
        "redirect_url": redirect_url,
        "redirect_path": parts.path or "/",
        "port": _port(redirect_url),
        "scope": " ".join(scopes),
        "scope_commas": stacks.Verbatim(", ".join(scopes)),
        "scope_items": stacks.Verbatim(items),
        "scope_list": stacks.Verbatim(f"[{items}]"),
    }


def _port(redirect_url: str) -> int:
    """Where a program on the own machine listens: the port of a loopback URL, else one that is usually free."""
    parts = urlsplit(redirect_url)
    is_local = parts.hostname in {"127.0.0.1", "localhost"}
    return parts.port or DEFAULT_PORT if is_local else DEFAULT_PORT


def _filled(source: str, values: dict[str, str | int | stacks.Verbatim], quote: Callable[[str], str]) -> str:
    def value_of(place: re.Match[str]) -> str:
        value = values[place["name"]]
        return quote(value) if type(value) is str and not place["raw"] else str(value)

    return _PLACE.sub(value_of, source)


@cache
def _source(name: str) -> str:
    return (_SOURCES / name).read_text(encoding="utf-8")
