"""Answers to requests that failed: JSON under /api/, a page everywhere else, with nothing in hand but the request."""

import json
from collections.abc import Callable

import pytest
from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import RedisError

from config import views
from imagehost.storing.storage import StorageFailed
from infrastructure.limits import LimitsUnavailable
from tests.pages.markup import problems_of, problems_of_text

ANSWERS = [
    (views.bad_request, 400, "errors.badRequest"),
    (views.permission_denied, 403, "errors.forbidden"),
    (views.csrf_failure, 403, "errors.forbidden"),
    (views.not_found, 404, "errors.notFound"),
    (views.server_error, 500, "errors.internal"),
]


@pytest.mark.parametrize(("view", "status", "error"), ANSWERS)
def test_an_api_caller_gets_json_and_a_person_a_page_without_session_user_or_database(
    rf: RequestFactory, view: Callable[[HttpRequest], HttpResponse], status: int, error: str
) -> None:
    answer, page = view(rf.get("/api/anything")), view(rf.get("/anything"))
    assert answer.status_code == page.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(answer.content) == {"error": error}
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert problems_of_text(page.content.decode()) == []


OUTAGES = [
    OperationalError("connection refused"),
    InterfaceError("the connection is closed"),
    LimitsUnavailable(),
    ConnectionInterrupted(None),
    RedisError("no answer"),
    StorageFailed("files/a.png: no answer"),
]


def _answered_while(rf: RequestFactory, error: Exception, path: str) -> HttpResponse:
    """As Django calls it: while the exception is handled."""
    try:
        raise error
    except type(error):
        return views.server_error(rf.get(path))


@pytest.mark.parametrize("error", OUTAGES)
def test_an_outage_is_a_page_that_says_when_to_try_again(rf: RequestFactory, error: Exception) -> None:
    response = _answered_while(rf, error, "/dashboard/")

    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.headers["Cache-Control"] == "no-store"
    assert "Not available at the moment" in response.content.decode()
    assert problems_of_text(response.content.decode()) == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/lookup", {"error": "errors.unavailable"}),
        (
            "/api/auth/oauth2/authorize",
            {
                "error": "temporarily_unavailable",
                "error_description": "A part of the service does not answer at the moment. Try again.",
            },
        ),
    ],
)
def test_an_outage_is_json_for_a_program(rf: RequestFactory, path: str, body: dict[str, str]) -> None:
    response = _answered_while(rf, OperationalError(), path)

    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert json.loads(response.content) == body


def test_another_error_is_none(rf: RequestFactory) -> None:
    assert _answered_while(rf, DataError("too long"), "/dashboard/").status_code == 500


@pytest.mark.django_db
def test_an_unknown_page_and_a_form_without_its_token_are_pages(client: Client) -> None:
    form = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "a", "password": "b"})
    for response, status in ((client.get("/no-such-page"), 404), (form, 403)):
        assert (response.status_code, problems_of(response)) == (status, [])
