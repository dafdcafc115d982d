"""A request that went around the edge proxy is refused, whatever it asks for."""

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import client_address
from tests.factories.accounts import UserFactory

HEADER = "X-Client-Address"
PATHS = [
    "/", "/accounts/login/", "/admin/", "/static/missing.css", "/media/aaaaaaaa.png", "/uploads/a.png", "/%00",
    "/api/nowhere", "/api/auth/token", "/.well-known/openid-configuration", "/healthz", "//",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _behind_an_edge_proxy(settings: Settings) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = HEADER


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_a_request_without_the_header_gets_403_whatever_its_path(path: str) -> None:
    for method in ("GET", "POST", "OPTIONS", "HEAD"):
        response = Client().generic(method, path)
        assert (response.status_code, response["Content-Type"]) == (403, "application/json")
        assert response.content == (b'{"error": "errors.forbidden"}' if method != "HEAD" else b"")
    assert Client().get(path, headers={HEADER: "192.0.2.1"}).status_code != 403


def test_a_header_that_holds_no_single_address_gets_403() -> None:
    response = Client().get("/healthz", headers={HEADER: "192.0.2.1, 198.51.100.7"})
    assert (response.status_code, response.json()) == (403, {"error": "errors.forbidden"})


@pytest.mark.django_db
def test_a_valid_session_does_not_stand_in_for_it() -> None:
    client = Client()
    client.force_login(UserFactory())
    assert client.get("/accounts/email/").json() == {"error": "errors.forbidden"}


def test_the_address_is_forgotten_after_the_request() -> None:
    Client().get("/healthz", headers={HEADER: "192.0.2.1"})
    assert client_address.current.get() == ""
