"""Answers to requests that failed: JSON under /api/, a page everywhere else, with nothing in hand but the request."""

import json
from collections.abc import Callable

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from config import views
from tests.pages.markup import problems_of, problems_of_text

ANSWERS = [
    (views.bad_request, 400, "errors.badRequest"),
    (views.permission_denied, 403, "errors.forbidden"),
    (views.csrf_failure, 403, "errors.forbidden"),
    (views.not_found, 404, "errors.notFound"),
    (views.server_error, 500, "errors.internal"),
]


@pytest.mark.parametrize(("view", "status", "error"), ANSWERS)
def test_an_api_caller_gets_json(
    rf: RequestFactory, view: Callable[[HttpRequest], HttpResponse], status: int, error: str
) -> None:
    response = view(rf.get("/api/anything"))

    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json"
    assert json.loads(response.content) == {"error": error}


@pytest.mark.parametrize(("view", "status", "error"), ANSWERS)
def test_a_person_gets_a_page_without_session_user_or_database(
    rf: RequestFactory, view: Callable[[HttpRequest], HttpResponse], status: int, error: str
) -> None:
    response = view(rf.get("/anything"))

    assert response.status_code == status
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert problems_of_text(response.content.decode()) == []


@pytest.mark.django_db
def test_an_unknown_page_is_a_page(client: Client) -> None:
    response = client.get("/no-such-page")

    assert response.status_code == 404
    assert problems_of(response) == []


@pytest.mark.django_db
def test_a_form_without_its_token_changes_nothing() -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "a", "password": "b"})

    assert response.status_code == 403
    assert problems_of(response) == []
