"""Hostile input to every endpoint: the documented error, never a server error, and nothing stored."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.test import Client
from oauthlib.common import Request as OauthlibRequest
from pytest_django import Settings

from oidc_provider import client_requests, request_log
from oidc_provider.models import OK, RequestRecord
from tests.factories.oidc_provider import CODE_VERIFIER
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    DISCOVERY,
    DISCOVERY_OF_RFC_8414,
    END_SESSION,
    FORM,
    INTROSPECT,
    INVALID_REQUEST,
    INVALID_TOKEN,
    KEY_SET,
    REVOKE,
    TOKEN,
    USERINFO,
    Answer,
    App,
    authorization_query,
    code_for,
    encoded,
    error_sent_back,
    refused,
    sent_back,
)

ENDPOINTS = [AUTHORIZE, TOKEN, USERINFO, INTROSPECT, REVOKE, END_SESSION, KEY_SET, DISCOVERY]
PARAMETERS = (
    "client_id redirect_uri response_type scope state code_challenge code_challenge_method nonce prompt max_age "
    "login_hint id_token_hint request request_uri"
).split()
VALUES = ["a\x00b", "x" * 10_000, "é☃😀", "\n", "%", "-1", "9" * 400, "eyx.y.z"]
NAMES = ['a"b\\c', "x" * 30_000, "é☃", "a\nb", "hush-" + "t" * 38]  # of parameters
BROKEN = ["%zz", "%FF", "%ED%A0%80", "%00"]  # in a query string or a body


@pytest.fixture
def good(app: App, browser: Client) -> dict[str, dict[str, str]]:
    """A valid request to each endpoint."""
    credentials = {"client_id": app.application.client_id, "client_secret": app.secret}
    exchange = {
        "grant_type": "authorization_code",
        "code": code_for(browser, app.application),
        "redirect_uri": app.application.redirect_urls[0],
        "code_verifier": CODE_VERIFIER,
    }
    return {
        TOKEN: {**credentials, **exchange},
        INTROSPECT: {**credentials, "token": "unknown"},
        REVOKE: {**credentials, "token": "unknown"},
    }


def _rows() -> dict[str, int]:
    """Return the number of rows of each table."""
    models = apps.get_models(include_auto_created=True)
    return {model._meta.label: model._default_manager.count() for model in models}


@pytest.fixture
def nothing_is_stored(good: dict[str, dict[str, str]]) -> Iterator[None]:
    before = _rows()
    yield
    assert _rows() == before


def _send(path: str, body: bytes | str, content_type: str = FORM, **headers: str) -> Answer:
    return Client(enforce_csrf_checks=True).generic("POST", path, body, content_type=content_type, headers=headers)


@pytest.mark.usefixtures("nothing_is_stored")
def test_another_content_type_is_an_invalid_request(good: dict[str, dict[str, str]]) -> None:
    for content_type in ("application/json", "multipart/form-data", f"{FORM}2", "", "é", "x" * 5_000):
        assert refused(_send(TOKEN, encoded(good[TOKEN]), content_type)) == INVALID_REQUEST
    for path in (INTROSPECT, REVOKE):
        assert refused(_send(path, encoded(good[path]), "text/plain")) == INVALID_REQUEST


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", '"'])
def test_a_charset_changes_nothing(good: dict[str, dict[str, str]], charset: str) -> None:
    assert _send(TOKEN, encoded(good[TOKEN]), f"{FORM}; charset={charset}").status_code == 200


@pytest.mark.usefixtures("nothing_is_stored")
def test_a_body_that_cannot_be_read_is_an_invalid_request(good: dict[str, dict[str, str]]) -> None:
    body = encoded(good[TOKEN]).encode()
    for more in (b"x=%zz", b"x=\xff", b"x=1&x=2", b"client_secret=x", b"y=1&" * 65, b"x=" + b"x" * 3_000_000):
        assert refused(_send(TOKEN, body + b"&" + more)) == INVALID_REQUEST
    for path in (INTROSPECT, REVOKE):
        assert refused(_send(path, encoded(good[path]) + "&token=unknown")) == INVALID_REQUEST


def _send_chunks(path: str, body: bytes) -> Answer:
    """Send a body without a length, which is read a few bytes at a time."""

    class Chunks(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size if size is not None and size >= 0 else 7, 7))

    environ: dict[str, Any] = {"wsgi.input": Chunks(body), "CONTENT_TYPE": FORM, "HTTP_TRANSFER_ENCODING": "chunked"}
    return Client(enforce_csrf_checks=True).generic("POST", path, **environ)


def test_a_body_in_chunks_is_read_like_any_other(good: dict[str, dict[str, str]]) -> None:
    for path, fields in good.items():
        assert _send_chunks(path, encoded(fields).encode()).status_code == 200
    assert refused(_send_chunks(USERINFO, b"access_token=unknown")) == INVALID_TOKEN


class _Lost(io.BytesIO):
    """A body whose client closes the connection."""

    def read(self, size: int | None = -1) -> bytes:
        raise OSError("connection reset")


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE, USERINFO, AUTHORIZE])
@pytest.mark.parametrize("is_reset", [True, False])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_body_that_does_not_come_whole_is_an_invalid_request(
    path: str, good: dict[str, dict[str, str]], is_reset: bool
) -> None:
    """Servers raise an error, or end the body before the announced length."""
    body = encoded(good.get(path, {"access_token": "unknown"})).encode()
    stream = _Lost() if is_reset else io.BytesIO(body)
    environ: dict[str, Any] = {"wsgi.input": stream, "CONTENT_TYPE": FORM, "CONTENT_LENGTH": str(len(body) + 1)}
    answer = Client().generic("POST", path, headers={"accept": "application/json"}, **environ)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE, USERINFO])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_body_has_at_most_65536_bytes(path: str, good: dict[str, dict[str, str]]) -> None:
    body = (encoded(good.get(path, {"access_token": "unknown"})) + "&x=").encode()
    for send in (_send, _send_chunks):
        too_long = send(path, body.ljust(65_537, b"x"))
        assert (refused(too_long), too_long.json()["error_description"]) == (
            INVALID_REQUEST,
            "The body is longer than 65536 bytes.",
        )


def test_the_app_of_a_body_that_is_too_long_is_known_by_its_beginning(good: dict[str, dict[str, str]]) -> None:
    for send in (_send, _send_chunks):
        send(TOKEN, (encoded(good[TOKEN]) + "&x=").encode().ljust(65_537, b"x"))
    request_log.buffer.write()
    assert RequestRecord.objects.filter(description="The body is longer than 65536 bytes.").count() == 2


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_query_string_is_an_invalid_request(path: str, good: dict[str, dict[str, str]]) -> None:
    for query in ("token=unknown", "x", "%FF"):
        assert refused(_send(f"{path}?{query}", encoded(good[path]))) == INVALID_REQUEST


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_hostile_value_of_any_field_is_refused_or_unknown(path: str, good: dict[str, dict[str, str]]) -> None:
    for name in good[path]:
        for value in VALUES:
            answer = _send(path, encoded({**good[path], name: value}))
            if name == "token":
                assert answer.status_code == 200  # not active, or already gone
            else:
                assert refused(answer)[0] in {400, 401}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_no_answer_and_no_log_repeats_a_name_that_is_none_of_ours(
    good: dict[str, dict[str, str]], app: App, client: Client, name: str
) -> None:
    twice = "&" + 2 * f"{quote(name)}=1&" + "scope=a&scope=a"
    answers = [_send(path, encoded(good[path]) + twice) for path in good]
    assert {refused(answer) for answer in answers} == {INVALID_REQUEST}
    query = authorization_query(app.application, scope=None) + twice
    assert error_sent_back(client.get(f"{AUTHORIZE}?{query}")) == "invalid_request"
    request_log.buffer.write()
    descriptions = set(RequestRecord.objects.exclude(outcome=OK).values_list("description", flat=True))
    assert descriptions == {"The body repeats scope.", "The request repeats scope."}


def test_every_parameter_of_ours_repeated_makes_a_short_description(good: dict[str, dict[str, str]]) -> None:
    everything = "&".join(f"{name}=1&{name}=1" for name in sorted(client_requests.NAMES))
    assert refused(_send(TOKEN, everything)) == INVALID_REQUEST
    assert refused(_send(TOKEN, encoded(good[TOKEN]) + "&x=1&x=1")) == INVALID_REQUEST


def test_a_hostile_value_of_another_field_is_ignored(good: dict[str, dict[str, str]]) -> None:
    ignored = dict(zip(("nonce", "scope", "state", "audience", "resource", "x"), VALUES, strict=False))
    assert _send(TOKEN, encoded({**good[TOKEN], **ignored})).status_code == 200


@pytest.mark.usefixtures("nothing_is_stored")
def test_a_hostile_parameter_is_answered_with_a_page_or_a_redirect_to_the_app(
    app: App, client: Client, settings: Settings
) -> None:
    settings.RATE_LIMITS_ENABLED = False
    for name in PARAMETERS:
        query = authorization_query(app.application, **{"prompt": "none", name: None})
        for value in [*map(quote, VALUES), *BROKEN]:
            answer = client.get(f"{AUTHORIZE}?{query}&{name}={value}")
            if name in {"client_id", "redirect_uri"}:
                assert answer.status_code == 400
            else:
                assert answer["Location"].startswith("https://app.example.org/callback?error=")
                assert "error_description" in sent_back(answer)


OF_OAUTHLIB: dict[str, Any] = vars(OauthlibRequest(""))
NAMES_OF_OAUTHLIB = sorted({*OF_OAUTHLIB, *OF_OAUTHLIB["_params"]} - set(PARAMETERS))


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_parameter_by_a_name_that_oauthlib_uses_itself_is_ignored(
    app: App, browser: Client, settings: Settings, method: str
) -> None:
    settings.RATE_LIMITS_ENABLED = False
    code_for(browser, app.application)
    assert "client" in NAMES_OF_OAUTHLIB
    for name in NAMES_OF_OAUTHLIB:
        query = f"{authorization_query(app.application)}&{name}=foo"
        if method == "GET":
            answer = browser.get(f"{AUTHORIZE}?{query}")
        else:
            answer = browser.post(AUTHORIZE, query, content_type=FORM)
        assert "code" in sent_back(answer), name


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.django_db
def test_a_hostile_query_or_header_breaks_no_endpoint(path: str) -> None:
    for query in ("x=%zz", "%FF", "x=%00", "x=" + "x" * 10_000, "a=1&" * 300):
        for method in ("GET", "POST"):
            answer = Client(enforce_csrf_checks=True).generic(method, f"{path}?{query}", content_type=FORM)
            assert answer.status_code < 500
    for name, value in (
        ("authorization", "Bearer eyx.y.z"),
        ("authorization", "Basic \xff"),
        ("authorization", "x" * 10_000),
        ("accept", ";;;q=zzz,,\xff"),
        ("if-none-match", '"' * 5_000),
        ("cookie", "sessionid=%00; csrftoken=\xff"),
        ("x-forwarded-for", "\x00"),
    ):
        for method in ("GET", "POST"):
            answer = Client(enforce_csrf_checks=True).generic(method, path, content_type=FORM, headers={name: value})
            assert answer.status_code < 500


@pytest.mark.parametrize(
    ("allowed", "paths"),
    [
        ("POST", [TOKEN, INTROSPECT, REVOKE]),
        ("GET, HEAD, POST", [USERINFO, END_SESSION]),
        ("GET, HEAD", [KEY_SET, DISCOVERY, DISCOVERY_OF_RFC_8414]),
    ],
)
@pytest.mark.django_db
def test_a_wrong_method_is_405_in_json_and_no_preflight_is_answered(allowed: str, paths: list[str]) -> None:
    origin = {"origin": "https://app.example.org", "access-control-request-method": "POST"}
    wrong = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "FOO"} - set(allowed.split(", "))
    for path, method in itertools.product(paths, sorted(wrong)):
        answer = Client(enforce_csrf_checks=True).generic(method, path, "x", content_type=FORM, headers=origin)
        assert (answer.status_code, answer["Content-Type"], answer["Allow"]) == (405, "application/json", allowed)
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE])
def test_no_other_origin_may_read_an_answer(path: str, good: dict[str, dict[str, str]]) -> None:
    answer = _send(path, encoded(good[path]), origin="https://app.example.org")
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("path", [TOKEN, AUTHORIZE])
@pytest.mark.django_db
def test_another_host_is_refused(path: str) -> None:
    assert Client().get(path, headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("path", ["/api/auth/", f"{TOKEN}/", "/api/auth/oauth2/register"])
@pytest.mark.django_db
def test_an_unknown_path_is_404_in_json(path: str) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        answer = Client(enforce_csrf_checks=True).generic(method, path, "x=1", content_type=FORM)
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
        assert answer.json() == {"error": "errors.notFound"}
