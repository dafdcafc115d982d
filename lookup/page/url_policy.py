"""The rules for addresses that a profile page may name. Pure rules over the settings.

Pictures and sounds come only from our own origins; links of the user lead to http, https and mailto.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.conf import settings

from infrastructure.requests.content_security import origin_of
from lookup.models.profiles import PATH_PATTERN

_PATH = re.compile(PATH_PATTERN)
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")  # browsers drop or replace these, which changes the address
WEB = ("http", "https")
LINKS = (*WEB, "mailto")


def own(url: str) -> str:
    """Return a file on the upload CDN or among the assets, as `on_page`; empty for any other address."""
    for base in (settings.UPLOAD_CDN_URL, settings.ASSET_URL):
        if url.startswith(f"{base}/") and _PATH.match(url.removeprefix(f"{base}/")):
            return on_page(url)
    return ""


def on_page(url: str) -> str:
    """Return an address of ours without our own origin, so that it works under every name of the host."""
    return url.removeprefix(settings.BASE_URL) if url.startswith(f"{settings.BASE_URL}/") else url


def outside(url: str, schemes: tuple[str, ...] = WEB) -> str:
    """Return an address that a user gave, where a browser may follow it; else ""."""
    if _UNSAFE.search(url):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_whole = bool(parts.hostname) if parts.scheme in WEB else bool(parts.path)
    return url if parts.scheme in schemes and is_whole else ""


def host(url: str) -> str:
    """Return the host of an address in Punycode (RFC 3492), so that look-alikes differ, or the mail address."""
    parts = urlsplit(url)
    name = parts.hostname or parts.path
    try:
        return name if name.isascii() else name.encode("idna").decode()
    except UnicodeError:
        return name


def media_sources() -> tuple[str, ...]:
    """Return the origins of uploads and assets, where they are not ours: the page's policy allows them."""
    bases = (settings.UPLOAD_CDN_URL, settings.ASSET_URL)
    return tuple(dict.fromkeys(origin_of(base) for base in bases if origin_of(base) != origin_of(settings.BASE_URL)))
