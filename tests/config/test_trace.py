"""TRACE is refused: pages, files, endpoints, the lane, unknown paths."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from config.web import wsgi

pytestmark = pytest.mark.django_db

PAGES = (
    "/",
    "/docs",
    "/accounts/login/",
    "/dashboard/",
    "/admin/",
    "/leaderboard",
    "/robots.txt",
    "/healthz",
    "/static/x",
)
FILES = ("/media/aaaaaaaa.png", "/uploads/x.png")
ENDPOINTS = ("/api/lookup/user", "/api/imagehost/upload", "/api/leaderboard/views", "/api/lookup/username/ada")
PROTOCOL = ("/api/auth/oauth2/token", "/api/auth/oauth2/authorize", "/.well-known/openid-configuration")


@pytest.mark.parametrize("path", [*PAGES, *FILES, *ENDPOINTS, *PROTOCOL, "/no/such/page"])
def test_trace_is_refused(path: str) -> None:
    answers: list[tuple[str, dict[str, str]]] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "TRACE",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "HTTP_HOST": settings.HOSTS[0],
        "HTTP_COOKIE": "sessionid=secret",
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "here",
        "SERVER_PORT": "8000",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
    }
    body = wsgi.application(environ, lambda status, headers: answers.append((status[:3], dict(headers))))
    assert b"secret" not in b"".join(body)
    status, headers = answers[0]
    assert (status, bool(headers["Allow"])) == ("405", True)
    response = Client().generic("TRACE", path)
    assert response.status_code == 405
    if path in ENDPOINTS:
        assert response.json() == {"error": "errors.methodNotAllowed"}
