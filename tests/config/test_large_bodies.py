"""A large body for which there is no thread is refused in the form of what was asked for, before it is read."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from config import request_body
from imagehost.errors import Busy

pytestmark = pytest.mark.django_db  # as every test of pages; none of these requests reaches a view


def _send(path: str, **headers: str) -> Any:
    """The answer to a request that found no place. Any: the test client's response."""
    mark: dict[str, Any] = {request_body.HAS_NO_PLACE: True}  # of the environ, where the test client takes headers
    response = Client().post(path, headers=headers, **mark)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert "no-store" in response.headers["Cache-Control"]
    return response


@pytest.mark.parametrize(
    ("path", "headers", "body"),
    [
        ("/api/imagehost/upload", {}, {"error": Busy.error, "code": "UNAVAILABLE"}),
        (
            "/api/auth/oauth2/token",
            {},
            {"error": "temporarily_unavailable", "error_description": Busy.error},
        ),
        (
            "/dashboard/imagehost/",
            {"Accept": "application/json"},
            {"error": Busy.error, "code": "UNAVAILABLE"},
        ),
    ],
)
def test_a_program_reads_json(path: str, headers: dict[str, str], body: dict[str, str]) -> None:
    assert _send(path, **headers).json() == body


def test_a_browser_gets_a_page_with_the_strict_policy() -> None:
    response = _send("/dashboard/imagehost/", Accept="text/html,*/*;q=0.8")
    assert "Too many uploads" in response.content.decode()
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
