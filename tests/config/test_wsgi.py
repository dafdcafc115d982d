"""What the server hands to Django is put right first, below every middleware."""

from typing import Any

import pytest
from django.conf import settings

from config import wsgi


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The environments that reach Django."""
    environments: list[dict[str, Any]] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        environments.append(environ)
        return []

    monkeypatch.setattr(wsgi, "django_application", application)
    return environments


@pytest.mark.parametrize(
    ("content_type", "told"),
    [
        ("text/plain; charset=hex", "text/plain"),
        ("application/json;Charset=rot13;x=y", "application/json;x=y"),
        ('application/x-www-form-urlencoded; charset="utf-8"', "application/x-www-form-urlencoded"),
        ("multipart/form-data; boundary=b", "multipart/form-data; boundary=b"),
        ("", ""),
    ],
)
def test_no_charset_of_the_caller_reaches_a_codec(seen: list[dict[str, Any]], content_type: str, told: str) -> None:
    wsgi.application({"CONTENT_TYPE": content_type}, None)
    assert seen[0]["CONTENT_TYPE"] == told


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_scheme_is_that_of_the_base_url(
    seen: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setattr(wsgi, "SCHEME", scheme)
    wsgi.application({"wsgi.url_scheme": "ftp", "HTTP_X_FORWARDED_PROTO": "ftp"}, None)
    assert seen[0]["wsgi.url_scheme"] == scheme
    assert settings.SECURE_PROXY_SSL_HEADER is None
