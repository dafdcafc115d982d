"""How an app proves who it is at the token, introspection and revocation endpoints."""

from __future__ import annotations

import base64

import pytest
from django.test import Client

from oidc_provider import applications
from tests.factories.oidc_provider import CODE_VERIFIER
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
    """The app is known: the unknown token of FIELDS is what is spoken of."""
    status = answer.status_code  # type: ignore[attr-defined]  # Django gives test responses no public type
    return bool(status == (400 if path == TOKEN else 200))


@ENDPOINTS
def test_the_secret_may_come_in_the_body(path: str, app: App) -> None:
    assert _is_let_in(path, app.post(path, **FIELDS[path]))


@ENDPOINTS
@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
def test_the_secret_may_come_in_the_header(path: str, app: App, scheme: str) -> None:
    header = basic(app.application.client_id, app.secret, scheme)
    assert _is_let_in(path, post(path, FIELDS[path], authorization=header))


@ENDPOINTS
def test_the_same_client_id_may_stand_in_the_body_too(path: str, app: App) -> None:
    header = basic(app.application.client_id, app.secret)
    fields = {**FIELDS[path], "client_id": app.application.client_id}
    assert _is_let_in(path, post(path, fields, authorization=header))
    assert refused(post(path, {**fields, "client_id": UNKNOWN_APP}, authorization=header)) == INVALID_REQUEST


@ENDPOINTS
def test_both_ways_at_once_are_an_invalid_request(path: str, app: App) -> None:
    header = basic(app.application.client_id, app.secret)
    fields = {**FIELDS[path], "client_secret": app.secret}
    assert refused(post(path, fields, authorization=header)) == INVALID_REQUEST
    assert refused(post(path, {**fields, "client_id": app.application.client_id}, authorization=header)) == (
        INVALID_REQUEST
    )


@ENDPOINTS
@pytest.mark.parametrize(
    ("client_id", "secret"),
    [
        ("right", "wrong"),
        ("right", ""),
        ("right", None),
        ("right", "\x00"),
        ("right", "é"),
        ("right", "x" * 10_000),
        ("right", "secret_sha256$"),
        ("unknown", "right"),
        ("", "right"),
        (None, "right"),
        (None, None),
        ("\x00", "right"),
        ("upper", "right"),
        ("space", "right"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_proves_nothing_is_an_invalid_client(
    path: str, app: App, client_id: str | None, secret: str | None
) -> None:
    known = app.application.client_id
    words = {"right": known, "unknown": UNKNOWN_APP, "upper": known.upper(), "space": f"{known} "}
    credentials = {
        "client_id": words.get(client_id, client_id) if client_id else client_id,
        "client_secret": app.secret if secret == "right" else secret,
    }
    in_body = post(path, {**FIELDS[path], **credentials})
    assert refused(in_body) == INVALID_CLIENT
    assert in_body["WWW-Authenticate"].startswith("Basic ")
    in_header = post(
        path, FIELDS[path], authorization=basic(credentials["client_id"] or "", credentials["client_secret"] or "")
    )
    assert refused(in_header) == INVALID_CLIENT
    assert in_header["WWW-Authenticate"].startswith("Basic ")


@ENDPOINTS
@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic é",
        "Basic \xff\xfe",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"\xff:\xff").decode(),
        "Basic " + base64.b64encode(b"\x00:\x00").decode(),
        "Basic " + base64.b64encode(b"%zz:%FF").decode(),
        "Basic YQ",
        "Basic " + "A" * 10_000,
        "Bearer eyx.y.z",
        "Bearer",
        "Digest username=x",
        "garbage",
        ":",
    ],
    ids=lambda header: ascii(header)[:40],
)
def test_a_broken_header_is_an_invalid_client(path: str, app: App, header: str) -> None:
    answer = post(path, FIELDS[path], authorization=header)
    assert refused(answer) == INVALID_CLIENT
    assert answer["WWW-Authenticate"].startswith("Basic ")


@ENDPOINTS
def test_percent_encoded_halves_of_the_header_are_decoded(path: str, app: App) -> None:
    secret = "".join(f"%{ord(letter):02x}" for letter in app.secret)
    assert _is_let_in(path, post(path, FIELDS[path], authorization=basic(app.application.client_id, secret)))


@ENDPOINTS
def test_another_apps_secret_proves_nothing(path: str, app: App, other_app: App) -> None:
    assert refused(App(app.application, other_app.secret).post(path, **FIELDS[path])) == INVALID_CLIENT


@ENDPOINTS
def test_a_reset_secret_takes_effect_at_once(path: str, app: App) -> None:
    new = applications.reset_secret(application=app.application, by=None)
    assert refused(app.post(path, **FIELDS[path])) == INVALID_CLIENT
    assert _is_let_in(path, App(app.application, new).post(path, **FIELDS[path]))


@ENDPOINTS
def test_a_suspended_app_proves_nothing_until_it_is_restored(path: str, app: App) -> None:
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert refused(app.post(path, **FIELDS[path])) == INVALID_CLIENT
    applications.restore(application=app.application, by=None)
    assert _is_let_in(path, app.post(path, **FIELDS[path]))


@ENDPOINTS
def test_suspension_is_told_to_nobody_but_the_app(path: str, app: App) -> None:
    unknown = App(app.application, "wrong").post(path, **FIELDS[path]).json()
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert App(app.application, "wrong").post(path, **FIELDS[path]).json() == unknown


def test_a_failed_proof_burns_neither_code_nor_refresh_token(app: App, other_app: App, browser: Client) -> None:
    refresh_token = app.sign_in(browser)["refresh_token"]
    code = code_for(browser, app.application)
    assert refused(app.exchange(code, client_secret="wrong")) == INVALID_CLIENT
    assert refused(app.refresh(refresh_token, client_secret="wrong")) == INVALID_CLIENT
    assert refused(app.exchange(code, client_secret=None)) == INVALID_CLIENT
    assert app.exchange(code).status_code == 200
    assert app.refresh(refresh_token).status_code == 200


def test_the_whole_exchange_works_with_the_header(app: App, browser: Client) -> None:
    fields = {
        "grant_type": "authorization_code",
        "code": code_for(browser, app.application),
        "redirect_uri": app.application.redirect_urls[0],
        "code_verifier": CODE_VERIFIER,
    }
    assert post(TOKEN, fields, authorization=basic(app.application.client_id, app.secret)).status_code == 200


@pytest.mark.parametrize(
    ("grant_type", "expected"),
    [
        ("client_credentials", (400, "unauthorized_client")),
        ("password", (400, "unsupported_grant_type")),
        ("urn:ietf:params:oauth:grant-type:device_code", (400, "unsupported_grant_type")),
        ("implicit", (400, "unsupported_grant_type")),
        ("Authorization_Code", (400, "unsupported_grant_type")),
        ("é", (400, "unsupported_grant_type")),
        ("", INVALID_REQUEST),
        (None, INVALID_REQUEST),
    ],
)
def test_other_grants_are_refused_once_the_app_has_proved_itself(
    app: App, grant_type: str | None, expected: tuple[int, str]
) -> None:
    fields = {"grant_type": grant_type, "username": "Ada", "password": "wrong", "scope": "openid"}
    assert refused(app.post(TOKEN, **fields)) == expected
    assert refused(App(app.application, "wrong").post(TOKEN, **fields)) == INVALID_CLIENT
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert refused(app.post(TOKEN, **fields)) == INVALID_CLIENT
