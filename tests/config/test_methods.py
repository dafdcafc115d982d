"""TRACE is refused everywhere: pages, files, endpoints, the lane, unknown paths; and pages have no other odd method."""

from __future__ import annotations

import json

import pytest

from tests.support import wsgi

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


@pytest.mark.django_db
@pytest.mark.parametrize("path", [*PAGES, *FILES, *ENDPOINTS, *PROTOCOL, "/no/such/page"])
def test_trace_is_refused(path: str) -> None:
    status, headers, body = wsgi.send(path, method="TRACE", headers={"COOKIE": "sessionid=secret"})
    assert (status, bool(headers["Allow"])) == ("405 Method Not Allowed", True)
    assert b"secret" not in body
    if path in ENDPOINTS:
        assert json.loads(body) == {"error": "errors.methodNotAllowed"}


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "BREW"])
@pytest.mark.parametrize("path", ["/", "/docs", "/accounts/login/", "/dashboard/", "/admin/", "/ada", "/no/such/page"])
def test_a_page_has_no_method_of_endpoints(path: str, method: str) -> None:
    status, headers, body = wsgi.send(path, method=method)
    assert (status, headers["Allow"], body) == ("405 Method Not Allowed", "GET, HEAD, POST, OPTIONS", b"")
