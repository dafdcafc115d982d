"""The running server's HTTP, read from the socket."""

import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest
import requests
from requests import Session

from tests.journeys.browser import TIMEOUT
from tests.journeys.people import App
from tests.journeys.services import Service

pytestmark = pytest.mark.live

TOKEN = "/api/auth/oauth2/token"
FOREIGN_ORIGIN = {"Origin": "https://elsewhere.example"}


@pytest.mark.parametrize("endpoint", ["token", "revoke", "introspect"])
def test_the_endpoints_of_apps_take_post_alone(service: Service, endpoint: str) -> None:
    preflight = {**FOREIGN_ORIGIN, "Access-Control-Request-Method": "POST"}
    url = f"{service.base_url}/api/auth/oauth2/{endpoint}"
    for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"):
        response = requests.request(method, url, headers=preflight, timeout=TIMEOUT)
        assert response.status_code == 405, method
        assert response.headers["Allow"] == "POST"
        assert response.headers["Content-Type"] == "application/json"
        assert not _cors(response)
        if method != "HEAD":
            assert response.json() == {"error": "invalid_request", "error_description": "Use POST."}


def test_an_answer_of_the_token_endpoint_is_for_no_browser_and_no_cache(service: Service, app: App) -> None:
    response = requests.post(
        f"{service.base_url}{TOKEN}",
        data={"grant_type": "client_credentials"},
        auth=(app.client_id, app.client_secret),
        headers=FOREIGN_ORIGIN,
        timeout=TIMEOUT,
    )
    assert (response.status_code, response.json()["error"]) == (400, "unauthorized_client")
    assert (response.headers["Cache-Control"], response.headers["Pragma"]) == ("no-store", "no-cache")
    assert not _cors(response)


def test_a_wrong_secret_is_challenged(service: Service, app: App) -> None:
    response = requests.post(
        f"{service.base_url}{TOKEN}", data={"grant_type": "refresh_token"}, auth=(app.client_id, "x"), timeout=TIMEOUT
    )
    assert (response.status_code, response.json()["error"]) == (401, "invalid_client")
    assert response.headers["WWW-Authenticate"].startswith("Basic ")


@pytest.mark.parametrize(
    "path", ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/api/auth/jwks"]
)
def test_what_is_public_is_cached_and_open_to_every_origin(service: Service, path: str) -> None:
    url = f"{service.base_url}{path}"
    whole = requests.get(url, headers=FOREIGN_ORIGIN, timeout=TIMEOUT)
    head = requests.head(url, headers=FOREIGN_ORIGIN, timeout=TIMEOUT)
    known = {"If-None-Match": whole.headers["ETag"], **FOREIGN_ORIGIN}
    unchanged = requests.get(url, headers=known, timeout=TIMEOUT)
    changed = requests.get(url, headers={"If-None-Match": '"another"'}, timeout=TIMEOUT)
    assert [answer.status_code for answer in (whole, head, unchanged, changed)] == [200, 200, 304, 200]
    assert (head.content, unchanged.content) == (b"", b"")
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]
    for answer in (whole, head, unchanged):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert answer.headers["Cache-Control"] == "public, max-age=300"
        assert answer.headers["ETag"] == whole.headers["ETag"]
    assert "Set-Cookie" not in whole.headers


def test_the_key_set_holds_public_ed25519_keys(service: Service) -> None:
    (key,) = requests.get(f"{service.base_url}/api/auth/jwks", timeout=TIMEOUT).json()["keys"]
    assert set(key) == {"kty", "crv", "alg", "use", "kid", "x"}
    assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("OKP", "Ed25519", "EdDSA", "sig")


def test_only_the_documented_endpoints_are_advertised(service: Service) -> None:
    document = requests.get(f"{service.base_url}/.well-known/openid-configuration", timeout=TIMEOUT).json()
    assert "registration_endpoint" not in document
    assert "none" not in document["token_endpoint_auth_methods_supported"]
    assert "client_credentials" in document["grant_types_supported"]
    for name, url in document.items():
        if name.endswith(("_endpoint", "_uri")):
            assert requests.get(url, timeout=TIMEOUT, allow_redirects=False).status_code in {200, 400, 401, 405}, name


@pytest.mark.parametrize("path", ["/api/", "/api/auth", "/api/auth/oauth2/nothing", "/api/auth/oauth2/token/"])
def test_an_unknown_path_of_the_api_is_json(service: Service, path: str) -> None:
    for method in ("GET", "POST"):
        response = requests.request(method, f"{service.base_url}{path}", timeout=TIMEOUT, allow_redirects=False)
        assert (response.status_code, response.json()) == (404, {"error": "errors.notFound"})


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", json.dumps({"grant_type": "refresh_token"}).encode()),
        ("multipart/form-data; boundary=b", b"--b--"),
        ("application/x-www-form-urlencoded", b"grant_type=refresh_token&a=%ZZ"),
        ("application/x-www-form-urlencoded", b"grant_type=refresh_token&grant_type=refresh_token"),
        ("application/x-www-form-urlencoded", b"a=" + b"x" * 4_000_000),
    ],
    ids=["json", "multipart", "broken", "repeated", "large"],
)
def test_a_body_of_another_form_is_refused_and_the_connection_lives(
    service: Service, content_type: str, body: bytes
) -> None:
    with Session() as session:
        for _ in range(2):
            response = session.post(
                f"{service.base_url}{TOKEN}", data=body, headers={"Content-Type": content_type}, timeout=TIMEOUT
            )
            assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


def test_an_answer_waits_for_a_body_that_comes_late(service: Service) -> None:
    """An answer before the body's end would close the connection."""
    where = urlsplit(service.base_url)
    head = f"POST {TOKEN} HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n"
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=TIMEOUT) as connection:
        for _ in range(2):
            connection.sendall(head.encode())
            connection.settimeout(0.2)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(TIMEOUT)
            connection.sendall(b"hello")
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            assert answer.status == 400
            answer.read()  # what is left of it would come in place of the next one


def test_a_body_without_a_length_is_read(service: Service, app: App) -> None:
    """HTTP/1.1 lets a client send its form in chunks (RFC 9112 §7.1)."""
    body = f"grant_type=client_credentials&client_id={app.client_id}&client_secret={app.client_secret}".encode()
    response = requests.post(
        f"{service.base_url}{TOKEN}",
        data=iter([body[:40], body[40:]]),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        timeout=TIMEOUT,
    )
    assert (response.status_code, response.json()["error"]) == (400, "unauthorized_client")


def test_nothing_in_an_address_breaks_the_server(service: Service) -> None:
    for path in (
        "/api/auth/oauth2/authorize?client_id=%00",
        "/api/auth/oauth2/authorize?client_id=%FF&redirect_uri=%ED%A0%80",
        "/consent/%00",
        "/apps/%00/logo.png",
        "/accounts/login/?next=%00",
        "/accounts/login/?next=https://elsewhere.example/",
        "/%00",
    ):
        response = requests.get(f"{service.base_url}{path}", timeout=TIMEOUT, allow_redirects=False)
        assert response.status_code in {200, 400, 404}, path


def _cors(response: requests.Response) -> list[str]:
    return [name for name in response.headers if name.lower().startswith("access-control-")]
