"""Account pages name the app that waits for the sign-in."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from PIL import Image

from oidc_provider.applications import logos
from oidc_provider.authorize import flows
from oidc_provider.models import PendingRequest
from tests.factories.accounts import PASSWORD
from tests.oidc_provider.protocol import App, authorize, waiting_at
from tests.pages.markup import page_of, problems_of

LOGIN = "/accounts/login/"


def _heading(browser: Client, waiting: str, path: str = LOGIN) -> str:
    answer = browser.get(path, {"next": waiting})
    assert problems_of(answer) == []
    return str(page_of(answer).findtext(".//h1"))


@pytest.fixture
def waiting(app: App) -> str:
    return waiting_at(authorize(Client(), app.application))


def test_the_login_page_names_the_app_that_waits(app: App, waiting: str) -> None:
    assert _heading(Client(), waiting) == "Sign in to continue to Notebook"
    assert _heading(Client(), waiting, "/accounts/signup/") == "Create an account to continue to Notebook"
    assert _heading(Client(), "/dashboard/") == _heading(Client(), "") == "Sign in"


def test_it_shows_the_apps_logo(app: App, waiting: str) -> None:
    upload = io.BytesIO()
    Image.new("RGB", (9, 9)).save(upload, "PNG")
    upload.seek(0)
    logos.change(application=app.application, png=logos.encode(upload), by=None)
    pictures = page_of(Client().get(LOGIN, {"next": waiting})).xpath("//main//img/@src")
    assert pictures == [f"/apps/{app.application.client_id}/logo.png"]


def test_a_wrong_password_keeps_the_app(waiting: str, app: App) -> None:
    answer = Client().post(LOGIN, {"login": "ada", "password": f"{PASSWORD}?", "next": waiting})
    assert page_of(answer).findtext(".//h1") == "Sign in to continue to Notebook"


def test_two_tabs_name_their_own_app(app: App, other_app: App) -> None:
    visitor = Client()
    first, second = (waiting_at(authorize(visitor, each.application)) for each in (app, other_app))
    assert _heading(visitor, first) == "Sign in to continue to Notebook"
    assert _heading(visitor, second) == "Sign in to continue to Other"


def test_the_confirmation_of_a_password_names_the_app(browser: Client, app: App) -> None:
    waiting = waiting_at(authorize(browser, app.application, prompt="login"))
    assert _heading(browser, waiting, "/accounts/reauthenticate/") == "Confirm that it is you to continue to Notebook"


@pytest.mark.parametrize("path", ["/consent/unknown", "/consent/", "https://evil.example/consent/x", "//["])
def test_an_address_that_is_no_waiting_request_names_no_app(path: str, db: None) -> None:
    assert _heading(Client(), path) == "Sign in"


def test_a_request_that_is_over_names_no_app(clock: time_machine.Traveller, app: App) -> None:
    waiting = waiting_at(authorize(Client(), app.application))
    flows.use_up(PendingRequest.objects.get(), timezone.now())
    assert _heading(Client(), waiting) == "Sign in"
    late = waiting_at(authorize(Client(), app.application))
    clock.shift(timedelta(minutes=10))
    assert _heading(Client(), late) == "Sign in"


def test_one_query_reads_the_app(waiting: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        Client().get(LOGIN, {"next": waiting})
