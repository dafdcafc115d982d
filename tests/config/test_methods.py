"""TRACE is refused everywhere: pages, files, endpoints, the lane, unknown paths; and no page takes PUT for POST."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import get_resolver

from tests.factories.accounts import UserFactory
from tests.lookup.test_page_urls import patterns
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
def test_no_page_without_parameters_answers_another_method(method: str) -> None:
    client = Client()
    client.force_login(UserFactory.create())
    paths = [f"/{path}" for path in patterns(get_resolver()) if not set("<(^[") & set(path)]
    answers = {path: client.generic(method, path).status_code for path in paths}
    assert {path: status for path, status in answers.items() if status < 300} == {}
    assert list(answers.values()).count(405) > 120
