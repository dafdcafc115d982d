"""A request that went around the edge proxy is refused, whatever it asks for."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from infrastructure.requests import request_context
from oidc_provider.token import signing
from tests.factories.accounts import UserFactory

HEADER = "X-Client-Address"
PATHS = [
    "/", "/accounts/login/", "/admin/", "/static/missing.css", "/media/aaaaaaaa.png", "/uploads/a.png", "/%00",
    "/api/nowhere", "/api/auth/token", "/.well-known/openid-configuration", "/healthz", "/metrics", "//",
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
    assert request_context.address() == ""


@pytest.mark.django_db(transaction=True)  # /readyz reads in threads of its own
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/readyz/host", "/metrics"])
@pytest.mark.parametrize("host", ["10.0.0.7:8000", "[fd00::7]:8000", "elsewhere.example", "not a host"])
def test_probes_and_scrapes_are_answered_whatever_the_host(
    client: Client, settings: Settings, tmp_path: Path, path: str, host: str
) -> None:
    settings.METRICS_TOKEN, settings.METRICS_DIR = "a-token", tmp_path
    signing.ensure_signing_key()
    headers = {HEADER: "10.0.0.1", "Authorization": "Bearer a-token", "X-Request-Id": "0123456789abcdef"}
    by_name, by_address = (client.get(path, headers={**headers, "Host": name}) for name in ("testserver", host))
    assert (by_name.status_code, by_address.status_code) == (200, 200)
    timed = {"Content-Length": "", "Expires": ""}  # the body holds durations; the second may change in between
    ours, theirs = ({**answer.headers, **timed} for answer in (by_name, by_address))
    assert ours == theirs
    assert host.encode() not in by_address.content


@pytest.mark.parametrize("path", ["/", "/metrics/", "/healthz/", "/healthzz", "/accounts/login/"])
def test_nothing_else_is_answered_for_a_host_that_is_not_ours(client: Client, path: str) -> None:
    assert client.get(path, headers={HEADER: "10.0.0.1", "Host": "10.0.0.7:8000"}).status_code == 400
