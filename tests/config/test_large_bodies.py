"""A large body is refused before it is read: where there is no thread for it, and on a page that takes no uploads."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from config.web import request_body
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


class Untouched:
    """A body that fails the test once it is read."""

    def read(self, *args: Any) -> bytes:
        raise AssertionError("The body is read.")

    readline = read


def _announce(path: str, length: int) -> Any:
    """POST a form of that length with a cookie and a token, so that Django's check would read it. Any: the response."""
    browser = Client(enforce_csrf_checks=True)
    browser.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    kind = "multipart/form-data; boundary=b"
    sent: dict[str, Any] = {"CONTENT_LENGTH": str(length), "CONTENT_TYPE": kind, "wsgi.input": Untouched()}
    return browser.generic("POST", path, **sent)


@pytest.mark.parametrize("path", ["/accounts/login/", "/admin/login/", "/ada", "/nowhere/at/all"])
def test_a_page_without_uploads_refuses_a_large_body_unread(path: str) -> None:
    answer = _announce(path, request_body.PAGE_BODY + 1)
    assert answer.status_code == 413
    assert "This form is too large" in answer.content.decode()
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    with pytest.raises(AssertionError, match="is read"):
        _announce("/accounts/login/", request_body.PAGE_BODY)


@pytest.mark.parametrize("path", ["/dashboard/imagehost/upload/", "/dashboard/profile/media/avatar/"])
def test_a_page_of_uploads_reads_no_body_of_a_visitor(path: str) -> None:
    answer = _announce(path, 50_000_000)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next={path}")
