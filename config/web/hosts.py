"""The hosts that the service answers, port included. ALLOWED_HOSTS of Django does not look at ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from infrastructure.settings_cache import from_settings


def of(meta: Mapping[str, Any]) -> str:
    """Return the host that a request names, in lower case; without the header that of the server, with its port.

    `meta`: a WSGI environ, or the META of a request.
    """
    host: str | None = meta.get("HTTP_HOST")
    return f"{meta['SERVER_NAME']}:{meta['SERVER_PORT']}".lower() if host is None else host.lower()


@from_settings
def served() -> frozenset[str]:
    """Return HOSTS, those without a port also with the default port of the scheme."""
    return _with_default_port(settings.HOSTS)


@from_settings
def of_endpoints() -> frozenset[str]:
    """Return the served hosts without the one that only serves files."""
    content, base = urlsplit(settings.IMAGE_CDN_URL).netloc.lower(), urlsplit(settings.BASE_URL).netloc.lower()
    return served() if content == base else served() - _with_default_port([content])


def _with_default_port(hosts: list[str]) -> frozenset[str]:
    port = 443 if settings.HTTPS else 80
    return frozenset([*hosts, *(f"{host}:{port}" for host in hosts if urlsplit(f"//{host}").port is None)])
