"""Client authentication at the token, introspection and revocation endpoints."""

from __future__ import annotations

import base64

import pytest
from django.test import Client

from infrastructure.hashing import SecretHasher
from oidc_provider import parameters
from oidc_provider.applications import applications, clients
from oidc_provider.applications.clients import Credentials
from oidc_provider.errors import InvalidClient, InvalidRequest
from tests.oidc_provider.protocol import (
    INTROSPECT,
    INVALID_CLIENT,
    INVALID_REQUEST,
    REVOKE,
    TOKEN,
    App,
    basic,
    code_for,
    post,
    refused,
)

ENDPOINTS = pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE])
FIELDS = {
    TOKEN: {"grant_type": "refresh_token", "refresh_token": "unknown"},
    INTROSPECT: {"token": "unknown"},
    REVOKE: {"token": "unknown"},
}
UNKNOWN_APP = "0" * 32


def _is_let_in(path: str, answer: object) -> bool:
    """Whether the app is authenticated: the answer is about the unknown token of FIELDS."""
    status = answer.status_code  # type: ignore[attr-defined]  # Django gives test responses no public type
    return bool(status == (400 if path == TOKEN else 200))


def _credentials(form: str = "", authorization: str = "") -> tuple[str, str]:
    """Return the credentials of a request with this header and form."""
    claimed = clients.credentials_of(authorization, parameters.parse(form))
    return claimed.client_id, claimed.client_secret


@pytest.mark.parametrize(
    ("form", "header", "claimed"),
    [
        ("client_id=a&client_secret=s", "", ("a", "s")),
        ("", basic("a", "s"), ("a", "s")),
        ("", basic("a", "s", "bAsIc"), ("a", "s")),
        ("", basic("a", "s:t"), ("a", "s:t")),
        ("", basic("%61", "s%2Bt+u"), ("a", "s+t u")),
        ("client_id=a", basic("a", "s"), ("a", "s")),
        ("", "", ("", "")),
    ],
)
def test_the_secret_comes_in_the_body_or_in_the_header(form: str, header: str, claimed: tuple[str, str]) -> None:
    assert _credentials(form, authorization=header) == claimed


@pytest.mark.parametrize("form", ["client_id=b", "client_secret=s", "client_id=a&client_secret=s"])
def test_both_ways_at_once_and_another_client_id_are_an_invalid_request(form: str) -> None:
    with pytest.raises(InvalidRequest):
        _credentials(form, authorization=basic("a", "s"))


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic !!!",
        "Basic \xff\xfe",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"\xff:\xff").decode(),
        "Bearer eyx.y.z",
        "garbage",
    ],
    ids=lambda header: ascii(header)[:40],
)
def test_a_broken_header_is_an_invalid_client(header: str) -> None:
    with pytest.raises(InvalidClient):
        _credentials(authorization=header)


@pytest.mark.parametrize("client_id", ["", "0" * 31, "0" * 33, "A" * 32, f"{UNKNOWN_APP} ", f"{UNKNOWN_APP}\n", "\x00"])
def test_an_id_of_another_form_names_no_app(client_id: str) -> None:
    assert clients.lookup_id(client_id) == ""


@pytest.mark.parametrize(
    "secret", ["wrong", "", "\x00", "é", "x" * 10_000, "secret_sha256$"], ids=lambda text: text[:9]
)
def test_a_secret_is_compared_as_a_whole(secret: str) -> None:
    stored = SecretHasher().encode("right", "")
    clients.check(Credentials("a", "right"), stored, is_usable=True)
    with pytest.raises(InvalidClient):
        clients.check(Credentials("a", secret), stored, is_usable=True)


@ENDPOINTS
def test_each_endpoint_takes_header_and_body_and_challenges_other_requests(path: str, app: App, other_app: App) -> None:
    client_id = app.application.client_id
    assert _is_let_in(path, app.post(path, **FIELDS[path]))
    assert _is_let_in(path, post(path, FIELDS[path], authorization=basic(client_id, app.secret)))
    both = {**FIELDS[path], "client_secret": app.secret}
    assert refused(post(path, both, authorization=basic(client_id, app.secret))) == INVALID_REQUEST
    for answer in (
        post(path, FIELDS[path]),
        post(path, FIELDS[path], authorization=basic(client_id, "wrong")),
        post(path, FIELDS[path], authorization=basic(client_id, other_app.secret)),
        post(path, {**FIELDS[path], "client_id": UNKNOWN_APP, "client_secret": app.secret}),
        post(path, {**FIELDS[path], "client_id": f"{client_id} ", "client_secret": app.secret}),
    ):
        assert refused(answer) == INVALID_CLIENT
        assert answer["WWW-Authenticate"].startswith("Basic ")


@ENDPOINTS
def test_a_reset_secret_takes_effect_at_once(path: str, app: App) -> None:
    new = applications.reset_secret(application=app.application, by=None)
    assert refused(app.post(path, **FIELDS[path])) == INVALID_CLIENT
    assert _is_let_in(path, App(app.application, new).post(path, **FIELDS[path]))


@ENDPOINTS
def test_a_suspended_app_is_an_invalid_client_until_it_is_restored(path: str, app: App) -> None:
    wrong = App(app.application, "wrong").post(path, **FIELDS[path]).json()
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert refused(app.post(path, **FIELDS[path])) == INVALID_CLIENT
    assert App(app.application, "wrong").post(path, **FIELDS[path]).json() == wrong  # only the app learns of it
    applications.restore(application=app.application, by=None)
    assert _is_let_in(path, app.post(path, **FIELDS[path]))


def test_failed_authentication_uses_up_neither_code_nor_refresh_token(
    app: App, other_app: App, browser: Client
) -> None:
    refresh_token = app.sign_in(browser)["refresh_token"]
    code = code_for(browser, app.application)
    assert refused(app.exchange(code, client_secret="wrong")) == INVALID_CLIENT
    assert refused(app.refresh(refresh_token, client_secret="wrong")) == INVALID_CLIENT
    assert refused(app.exchange(code, client_secret=None)) == INVALID_CLIENT
    assert app.exchange(code).status_code == 200
    assert app.refresh(refresh_token).status_code == 200


@pytest.mark.parametrize(
    ("grant_type", "expected"),
    [
        ("client_credentials", (400, "unauthorized_client")),
        ("password", (400, "unsupported_grant_type")),
        ("urn:ietf:params:oauth:grant-type:device_code", (400, "unsupported_grant_type")),
        ("Authorization_Code", (400, "unsupported_grant_type")),
        (None, INVALID_REQUEST),
    ],
)
def test_other_grants_are_refused_after_client_authentication(
    app: App, grant_type: str | None, expected: tuple[int, str]
) -> None:
    fields = {"grant_type": grant_type, "username": "Ada", "password": "wrong", "scope": "openid"}
    assert refused(app.post(TOKEN, **fields)) == expected
    assert refused(App(app.application, "wrong").post(TOKEN, **fields)) == INVALID_CLIENT
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert refused(app.post(TOKEN, **fields)) == INVALID_CLIENT
