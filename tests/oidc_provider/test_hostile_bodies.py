"""Whatever is posted: the documented error, never a server error, and nothing stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from tests.factories.oidc_provider import CODE_VERIFIER
from tests.oidc_provider.protocol import (
    FORM,
    INTROSPECT,
    INVALID_REQUEST,
    REVOKE,
    TOKEN,
    USERINFO,
    Answer,
    App,
    code_for,
    encoded,
    refused,
)

POSTED = pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE])
VALUES = [
    "\x00",
    "a\x00b",
    "x" * 10_000,
    "é☃😀",
    "\n\r\t",
    "'; DROP TABLE oidc_provider_application; --",
    "%",
    "null",
    "-1",
    "9" * 400,
    "eyx.y.z",
    "{}",
    "../../etc/passwd",
]


def rows() -> dict[str, int]:
    """How many rows each table has."""
    return {model._meta.label: model._default_manager.count() for model in apps.get_models(include_auto_created=True)}


@pytest.fixture
def good(app: App, browser: Client) -> dict[str, dict[str, str]]:
    """A request to each endpoint that would be answered 200."""
    credentials = {"client_id": app.application.client_id, "client_secret": app.secret}
    token = app.sign_in(browser)["access_token"]
    exchange = {
        "grant_type": "authorization_code",
        "code": code_for(browser, app.application),
        "redirect_uri": app.application.redirect_urls[0],
        "code_verifier": CODE_VERIFIER,
    }
    return {
        TOKEN: {**credentials, **exchange},
        INTROSPECT: {**credentials, "token": token},
        REVOKE: {**credentials, "token": "of nobody"},
    }


@pytest.fixture
def nothing_is_stored(good: dict[str, dict[str, str]]) -> Iterator[None]:
    before = rows()
    yield
    assert rows() == before


def _send(path: str, body: bytes | str, content_type: str = FORM, **headers: str) -> Answer:
    return Client(enforce_csrf_checks=True).generic("POST", path, body, content_type=content_type, headers=headers)


@POSTED
def test_the_good_request_is_answered_200(path: str, good: dict[str, dict[str, str]]) -> None:
    assert _send(path, encoded(good[path])).status_code == 200


@POSTED
@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded2",
        "",
        "é",
        "/",
        ";;;",
        "x" * 5_000,
    ],
    ids=lambda value: ascii(value)[:40],
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_another_content_type_is_an_invalid_request(
    path: str, good: dict[str, dict[str, str]], content_type: str
) -> None:
    bodies = [encoded(good[path]), json.dumps(good[path]), "--x\r\nbroken", ""]
    for body in bodies:
        assert refused(_send(path, body, content_type)) == INVALID_REQUEST


@POSTED
@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "latin-1", "utf-16", "nonsense", '"'])
def test_a_charset_changes_nothing(path: str, good: dict[str, dict[str, str]], charset: str) -> None:
    assert _send(path, encoded(good[path]), f"{FORM}; charset={charset}").status_code == 200


@POSTED
@pytest.mark.parametrize(
    "more",
    [
        b"&x=%zz",
        b"&x=%",
        b"&x=%FF",
        b"&x=\xff",
        b"&\xff\xfe",
        b"&x=%ED%A0%80",
        b"&x=%C0%AF",
        b"&x=1&x=2",
        b"&client_id=x",
        b"&client_secret=x",
        b"&token=a&token=a",
        b"&code=a&code=a",
        b"&" + b"&".join(b"f%d=1" % number for number in range(5_000)),
        b"&x=" + b"x" * 3_000_000,
    ],
    ids=lambda value: ascii(value)[:30],
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_body_that_cannot_be_read_is_an_invalid_request(
    path: str, good: dict[str, dict[str, str]], more: bytes
) -> None:
    assert refused(_send(path, encoded(good[path]).encode() + more)) == INVALID_REQUEST


@POSTED
@pytest.mark.parametrize("query", ["client_secret=x", "code=x", "x", "x=%zz", "%FF", "&"])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_query_string_is_an_invalid_request(path: str, good: dict[str, dict[str, str]], query: str) -> None:
    assert refused(_send(f"{path}?{query}", encoded(good[path]))) == INVALID_REQUEST


@POSTED
@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_hostile_value_of_any_field_is_refused_or_means_nothing(
    path: str, good: dict[str, dict[str, str]], value: str
) -> None:
    for name in good[path]:
        answer = _send(path, encoded({**good[path], name: value}))
        if name == "token":
            assert answer.status_code == 200  # gone, or not active
        else:
            assert refused(answer)[0] in {400, 401}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
def test_a_hostile_value_of_a_field_that_is_not_ours_is_ignored(good: dict[str, dict[str, str]], value: str) -> None:
    ignored = dict.fromkeys(("nonce", "scope", "state", "audience", "resource", "device_code", "x"), value)
    assert _send(TOKEN, encoded({**good[TOKEN], **ignored})).status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"grant_type": "urn:ietf:params:oauth:grant-type:device_code"},
        {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "x"},
        {"grant_type": "password", "username": "Ada", "password": "wrong"},
        {"grant_type": "password"},
        {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "eyx.y.z"},
        {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": "x"},
    ],
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_grants_that_are_not_ours_are_unsupported(app: App, fields: dict[str, Any]) -> None:
    assert refused(app.post(TOKEN, **fields)) == (400, "unsupported_grant_type")


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE, USERINFO])
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO"])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_wrong_method_is_405_in_json_and_no_preflight_is_answered(
    path: str, good: dict[str, dict[str, str]], method: str
) -> None:
    origin = {"origin": "https://app.example.org", "access-control-request-method": "POST"}
    answer = Client(enforce_csrf_checks=True).generic(method, path, "x", content_type=FORM, headers=origin)
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
    if path == USERINFO and method in {"GET", "HEAD"}:
        assert answer.status_code == 401
        return
    assert (answer.status_code, answer["Content-Type"]) == (405, "application/json")
    assert answer["Allow"] == ("GET, HEAD, POST" if path == USERINFO else "POST")


@POSTED
def test_no_other_origin_may_read_an_answer(path: str, good: dict[str, dict[str, str]]) -> None:
    answer = _send(path, encoded(good[path]), origin="https://app.example.org")
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
