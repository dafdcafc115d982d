"""The status, headers and bodies of the endpoints for programs."""

from __future__ import annotations

import json
import re

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from accounts.models import LinkedAccount, User
from config.web import wsgi
from oidc_provider.token import operations, signing
from tests.factories.accounts import LinkedAccountFactory
from tests.oidc_provider.protocol import (
    DISCOVERY,
    DISCOVERY_OF_RFC_8414,
    EVERY_SCOPE,
    FORM,
    INTROSPECT,
    ISSUER,
    KEY_SET,
    REVOKE,
    TOKEN,
    USERINFO,
    App,
    basic,
    code_for,
    encoded,
)
from tests.support import wsgi as wsgi_requests
from tests.support.wsgi import Sent

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

EVERY_ANSWER = {
    "Content-Type": "application/json",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "unsafe-none",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
NOT_CACHED = {"Cache-Control": "no-store", "X-Request-Id": "an id"}
OF_AN_APP = {**EVERY_ANSWER, **NOT_CACHED, "Pragma": "no-cache"}
PUBLIC = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*", "ETag": "a tag"}
BASIC = {"WWW-Authenticate": 'Basic realm="apps", charset="UTF-8"'}
NO_TOKEN = {"WWW-Authenticate": "Bearer"}
BAD_TOKEN = {
    "WWW-Authenticate": 'Bearer error="invalid_token", '
    'error_description="The access token is unknown, expired or revoked."'
}
NO_OPENID = {
    "WWW-Authenticate": 'Bearer error="insufficient_scope", '
    'error_description="The access token lacks the scope openid.", scope="openid"'
}


def sent(method: str, path: str, body: str = "", **headers: str) -> Sent:
    """Return the answer with a fixed request id and a fixed tag."""
    path, _, query = path.partition("?")
    if method == "POST":
        headers.setdefault("CONTENT_TYPE", FORM)
    status, answered, content = wsgi_requests.send(path, query, method, body.encode(), headers)
    for name, form, fixed in (
        ("X-Request-Id", r"[0-9a-f]{16}", "an id"),
        ("ETag", r'"[0-9a-f]{32}"', "a tag"),
    ):
        if name in answered:
            assert re.fullmatch(form, answered[name])
            answered[name] = fixed
    return status, answered, content


@pytest.fixture
def values(app: App, browser: Client, user: User) -> dict[str, str]:
    """The values of the placeholders in the table."""
    for kind in LinkedAccount.Kind:
        LinkedAccountFactory(user=user, kind=kind)
    credentials = {"client_id": app.application.client_id, "client_secret": app.secret}
    return {
        "{app}": encoded(credentials),
        "{basic}": basic(app.application.client_id, app.secret),
        "{access}": app.sign_in(browser, EVERY_SCOPE)["access_token"],
        "{refresh}": app.sign_in(browser, EVERY_SCOPE)["refresh_token"],
        "{plain}": app.sign_in(browser, "identify")["access_token"],
    }


Asked = tuple[str, str, str, dict[str, str]]  # method, path, body, headers
ANSWERS: list[tuple[str, str, str, dict[str, str], int, dict[str, str]]] = [
    ("GET", USERINFO, "", {"AUTHORIZATION": "Bearer {access}"}, 200, OF_AN_APP),
    ("HEAD", USERINFO, "", {"AUTHORIZATION": "bearer {access}"}, 200, OF_AN_APP),
    ("POST", USERINFO, "", {"AUTHORIZATION": "Bearer {access}"}, 200, OF_AN_APP),
    ("POST", USERINFO, "access_token={access}", {}, 200, OF_AN_APP),
    ("POST", USERINFO, "access_token={access}", {"AUTHORIZATION": "Bearer x"}, 400, OF_AN_APP),
    ("GET", USERINFO, "", {}, 401, {**OF_AN_APP, **NO_TOKEN}),
    ("GET", USERINFO, "", {"AUTHORIZATION": "Bearer x"}, 401, {**OF_AN_APP, **BAD_TOKEN}),
    ("GET", USERINFO, "", {"AUTHORIZATION": "Bearer {plain}"}, 403, {**OF_AN_APP, **NO_OPENID}),
    ("GET", USERINFO, "", {"AUTHORIZATION": "Bearer {access}", "COOKIE": "sessionid=x; csrftoken=x"}, 200, OF_AN_APP),
    ("POST", INTROSPECT, "{app}&token={access}", {}, 200, OF_AN_APP),
    ("POST", INTROSPECT, "token={refresh}", {"AUTHORIZATION": "{basic}"}, 200, OF_AN_APP),
    ("POST", INTROSPECT, "{app}&token=x", {}, 200, OF_AN_APP),
    ("POST", INTROSPECT, "{app}", {}, 400, OF_AN_APP),
    ("POST", INTROSPECT, "token=x", {}, 401, {**OF_AN_APP, **BASIC}),
    ("POST", INTROSPECT, "{app}&token=x", {"AUTHORIZATION": "{basic}"}, 400, OF_AN_APP),
    ("POST", INTROSPECT, "{app}&token=x", {"CONTENT_TYPE": f"{FORM}; charset=utf-16"}, 200, OF_AN_APP),
    ("POST", INTROSPECT, "token=x", {"AUTHORIZATION": "Basic %"}, 401, {**OF_AN_APP, **BASIC}),
    ("GET", INTROSPECT, "", {}, 405, {**OF_AN_APP, "Allow": "POST"}),
    ("HEAD", INTROSPECT, "", {}, 405, {**OF_AN_APP, "Allow": "POST"}),
    ("POST", REVOKE, "{app}&token=x", {}, 200, OF_AN_APP),
    ("POST", REVOKE, "{app}", {}, 400, OF_AN_APP),
    ("POST", TOKEN, "", {}, 401, {**OF_AN_APP, **BASIC}),
    ("POST", TOKEN, "{}", {"CONTENT_TYPE": "application/json"}, 400, OF_AN_APP),
    ("POST", f"{TOKEN}?a=1", "{app}", {}, 400, OF_AN_APP),
    ("POST", TOKEN, "code=%zz", {}, 400, OF_AN_APP),
    ("POST", TOKEN, "code=1&code=1", {}, 400, OF_AN_APP),
    ("POST", TOKEN, "{app}", {"CONTENT_LENGTH": "500"}, 400, OF_AN_APP),
    ("POST", TOKEN, "{app}&grant_type=client_credentials", {}, 400, OF_AN_APP),
    ("POST", TOKEN, "{app}&grant_type=password", {}, 400, OF_AN_APP),
    ("POST", TOKEN, "{app}&grant_type=refresh_token&refresh_token=x", {}, 400, OF_AN_APP),
    ("POST", TOKEN, "{app}&grant_type=authorization_code&code=x", {}, 400, OF_AN_APP),
    ("GET", KEY_SET, "", {}, 200, {**EVERY_ANSWER, **PUBLIC, "X-Request-Id": "an id"}),
    ("HEAD", KEY_SET, "", {}, 200, {**EVERY_ANSWER, **PUBLIC, "X-Request-Id": "an id"}),
    ("POST", KEY_SET, "", {}, 405, {**EVERY_ANSWER, **NOT_CACHED, "Allow": "GET, HEAD"}),
]


@pytest.mark.parametrize(("asked", "status", "expected"), [(row[:4], *row[4:]) for row in ANSWERS])
def test_each_answer_has_exactly_these_headers(
    values: dict[str, str], asked: Asked, status: int, expected: dict[str, str]
) -> None:
    method, path, body, headers = asked
    for name, value in values.items():
        body = body.replace(name, value)
        headers = {header: text.replace(name, value) for header, text in headers.items()}
    line, answered, content = sent(method, path, body, **headers)
    assert int(line[:3]) == status
    length = int(answered.pop("Content-Length"))
    assert answered == expected
    assert len(content) == (0 if method == "HEAD" else length)
    assert length > 0 or path == REVOKE


DOCUMENT = {**EVERY_ANSWER, **PUBLIC, "X-Request-Id": "an id", "Cross-Origin-Opener-Policy": "same-origin"}


@pytest.mark.parametrize("path", [DISCOVERY, DISCOVERY_OF_RFC_8414])
def test_the_discovery_document_is_no_page_of_a_sign_in(path: str) -> None:
    line, headers, content = sent("GET", path)
    assert (line, json.loads(content)["issuer"]) == ("200 OK", ISSUER)
    assert headers == {**DOCUMENT, "Content-Length": str(len(content))}
    assert sent("HEAD", path) == (line, headers, b"")


@pytest.mark.parametrize("path", [DISCOVERY, DISCOVERY_OF_RFC_8414, KEY_SET])
def test_the_conditions_of_a_request_are_answered_without_a_body(app: App, path: str) -> None:
    tag = wsgi_requests.send(path)[1]["ETag"]
    for condition, status in (
        ({"IF_NONE_MATCH": tag}, "304 Not Modified"),
        ({"IF_NONE_MATCH": f'"x", W/{tag}'}, "304 Not Modified"),
        ({"IF_NONE_MATCH": '"x"'}, "200 OK"),
        ({"IF_MATCH": tag}, "200 OK"),
        ({"IF_MATCH": '"x"'}, "412 Precondition Failed"),
    ):
        line, headers, content = sent("GET", path, **condition)
        assert line == status
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert headers["Cache-Control"] == "public, max-age=300"
        assert ("ETag" in headers) is (status[:3] != "412")
        if status != "200 OK":
            assert (content, headers["Content-Length"], "Content-Type" in headers) == (b"", "0", False)


def test_a_refresh_names_what_an_exchange_names(app: App, browser: Client) -> None:
    """Tokens differ each time, so their names and headers are compared."""
    response = app.exchange(code_for(browser, app.application, scope=EVERY_SCOPE))
    fields = {"grant_type": "refresh_token", "refresh_token": response.json()["refresh_token"]}
    credentials = {"client_id": app.application.client_id, "client_secret": app.secret}
    line, headers, content = sent("POST", TOKEN, encoded({**fields, **credentials}))
    assert (line, list(json.loads(content))) == ("200 OK", list(response.json()))
    assert headers == {**OF_AN_APP, "Content-Length": str(len(content))}


def test_over_https_the_answers_say_so(
    app: App, monkeypatch: pytest.MonkeyPatch, settings: Settings, values: dict[str, str]
) -> None:
    monkeypatch.setattr(wsgi, "SCHEME", "https")
    settings.SECURE_HSTS_SECONDS = 60
    for path in (USERINFO, KEY_SET, DISCOVERY):
        _, headers, _ = sent("GET", path)
        assert headers["Strict-Transport-Security"].startswith("max-age=60")


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (RuntimeError("a secret"), "500 Internal Server Error", {"error": "errors.internal"}),
        (
            OperationalError("gone"),
            "503 Service Unavailable",
            {
                "error": "temporarily_unavailable",
                "error_description": "The service cannot reach its database at the moment. Try again.",
            },
        ),
    ],
    ids=["bug", "outage"],
)
def test_what_breaks_is_logged_and_answered_without_details(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: str,
    body: dict[str, str],
) -> None:
    def broken(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(operations, "bearer", broken)
    monkeypatch.setattr(signing, "key_set", broken)
    for path in (USERINFO, KEY_SET):
        line, headers, content = sent("GET", path)
        assert (line, json.loads(content)) == (status, body)
        assert ("Retry-After" in headers) == (status[:3] == "503")
    assert [record.exc_info is not None for record in caplog.records] == [True] * 2
