"""Requests under /api/ go straight to their view; the protocol's endpoints and the pages pass every middleware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.api_view import ApiView
from config.views import ApiNotFound
from tests.accounts.calls import ALWAYS, whole

ANY_CASE = "[aA][pP][iI](?:/|$)"
API = ("api", ANY_CASE)
LITTLE_API = pytest.mark.urls("tests.accounts.api_urls")


def endpoints(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every path with its view, in the order in which they are looked up."""
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern).lstrip("^")
        if isinstance(pattern, URLPattern):
            yield route, pattern.callback
        else:
            yield from endpoints(pattern, route)


def test_every_endpoint_under_api_is_an_api_view_but_for_the_protocols() -> None:
    found = dict(endpoints(get_resolver()))
    in_lane = {route: view for route, view in found.items() if route.startswith(API) and "api/auth/" not in route}
    assert in_lane[ANY_CASE].view_class is ApiNotFound
    assert [route for route, view in in_lane.items() if not issubclass(view.view_class, ApiView)] == []
    assert len([route for route in found if route.startswith("api/auth/")]) > 5
    assert [route for route in found if route.startswith(API)][-1] == ANY_CASE  # behind every known path


@LITTLE_API
def test_an_endpoint_sees_no_session_no_user_and_no_form_token() -> None:
    response = Client(enforce_csrf_checks=True).get("/api/open", headers={"Cookie": "sessionid=x; csrftoken=y"})
    assert whole(response) == (200, {"seen": [], "query": None}, ALWAYS)
    assert response.cookies == {}


@LITTLE_API
@pytest.mark.parametrize("query", ["q=%00", "q=%C3%28", "&&&=&q"])
def test_a_hostile_query_is_left_to_the_view(query: str) -> None:
    response = Client().generic("GET", "/api/open", QUERY_STRING=query)
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")


@LITTLE_API
def test_too_many_parameters_are_a_bad_request() -> None:
    assert whole(Client().get("/api/open?" + "a=1&" * 201)) == (400, {"error": "errors.badRequest"}, ALWAYS)


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/auth", "/api//auth/token", "/api/%00", "/api/é"])
def test_an_unknown_path_is_the_same_404_for_every_method(path: str) -> None:
    for method in ("GET", "POST", "OPTIONS", "BREW"):
        response = Client(enforce_csrf_checks=True).generic(method, path)
        assert whole(response) == (404, {"error": "errors.notFound"}, ALWAYS)


def test_an_unknown_path_is_asked_for_without_its_body() -> None:
    response = Client().head("/api/nowhere")
    assert (response.status_code, response.content, response["Content-Length"]) == (404, b"", "27")


@pytest.mark.django_db
def test_an_unknown_protocol_path_is_404_through_every_middleware_and_counts_for_nothing() -> None:
    for _ in range(61):
        response = Client().post("/api/auth/nowhere")
        assert (response.status_code, response.content) == (404, b'{"error": "errors.notFound"}')
    assert response["X-Frame-Options"] == "DENY"
    assert response["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert Client().get("/api/nowhere").status_code == 404


@pytest.mark.django_db
def test_protocol_requests_do_not_count_among_the_others() -> None:
    for _ in range(61):
        assert Client().get("/api/auth/jwks").status_code != 429
    assert {Client().get("/api/nowhere").status_code for _ in range(60)} == {404}
    assert Client().get("/api/auth/jwks").status_code != 429
    assert Client().get("/api/nowhere").status_code == 429
