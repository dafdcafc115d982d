"""Headers that are too long are refused before Django or a pattern reads them, on every way to an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from config.web import request_headers
from tests.config.test_embedded import Client
from tests.support import wsgi

PAGES = ("/", "/docs", "/accounts/login/", "/no/such/page")
FILES = ("/media/aaaaaaaa.png", "/uploads/x.png")
ENDPOINTS = ("/api/lookup/user", "/api/imagehost/gallery", "/api/auth/oauth2/token", "/api/nothing")
LONG_TYPE = f'text/plain;a="{";" * 60_000}'  # of which the standard library's parser makes six seconds


@pytest.mark.django_db
@pytest.mark.parametrize("path", [*PAGES, *FILES, *ENDPOINTS])
@pytest.mark.parametrize(
    ("name", "most"),
    [("CONTENT_TYPE", 1000), ("ACCEPT", 1000), ("USER_AGENT", 8192), ("COOKIE", 8192), ("X_NOBODY_KNOWS", 8192)],
)
def test_a_header_is_refused_from_one_character_too_many(path: str, name: str, most: int) -> None:
    assert not wsgi.send(path, headers={name: "a" * most})[0].startswith("431")
    status, _, body = wsgi.send(path, headers={name: "a" * (most + 1)})
    assert status == "431 Request Header Fields Too Large"
    if path in ENDPOINTS:
        assert json.loads(body) == {"error": "errors.headerTooLong"}
    else:
        assert b"Delete the cookies of this site" in body


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/lookup/user", "/.well-known/openid-configuration", "/accounts/login/"])
def test_the_server_of_the_embedded_default_refuses_them_too(path: str) -> None:
    client = Client()
    client.call((b"content-type", LONG_TYPE.encode()), path=path, raw_path=path.encode())
    assert client.status == 431


def test_nothing_else_of_a_request_has_that_limit() -> None:
    environ: dict[str, Any] = {"PATH_INFO": "/" + "a" * 9000, "QUERY_STRING": "b" * 9000, "wsgi.input": None}
    request_headers.clean(environ)
    assert environ == {"PATH_INFO": "/" + "a" * 9000, "QUERY_STRING": "b" * 9000, "wsgi.input": None}


def test_an_event_stream_hears_no_long_header() -> None:
    kept = [(b"authorization", b"a" * 8192)]
    assert request_headers.without_body([*kept, (b"cookie", b"a" * 8193), (b"x_a", b"1"), (b"expect", b"x")]) == kept
