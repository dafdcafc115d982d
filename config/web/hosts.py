"""The hosts that the service answers, port included. ALLOWED_HOSTS of Django does not look at ports."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from accounts.kept_settings import from_settings


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
