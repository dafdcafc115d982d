"""What the lane answers, ordinary or not: status, headers and bytes; and what it leaves to Django."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import pytest
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.wsgi import get_path_info
from django.core.signals import got_request_exception
from django.db import OperationalError
from django.urls import Resolver404, resolve
from pytest_django import Settings

from accounts.models import Permission
from config.web import lane, request_body, wsgi
from config.web.door import ObservedRequest
from infrastructure.requests.errors import ApiError
from infrastructure.requests.request_context import Query
from lookup.documents import registry
from lookup.models import Profile
from lookup.views import api
from tests.accounts.calls import ALWAYS, without_budget
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.lookup import main_profile, shown
from tests.oidc_provider.protocol import DISCOVERY, KEY_SET, TOKEN
from tests.support import wsgi as wsgi_requests
from tests.support.wsgi import Sent

pytestmark = pytest.mark.django_db

SECRET = "the-secret-of-a-key"
LOOKUP = "/api/lookup/user"
NAME, PRESENCE = "/api/lookup/username/", "/api/lookup/presence/"
KEY = {"X_API_KEY": SECRET}
BUSY = "Too many uploads at the same time. Please try again in a few seconds."
ALL = "type=username&value=ada&" + "&".join(f"{include}=true" for include in registry.INCLUDES)


def send(path: str, query: str = "", method: str = "GET", **headers: str) -> Sent:
    """Return the answer without its id and its budget."""
    status, fields, body = wsgi_requests.send(path, query, method, headers=headers)
    assert len(fields.pop("X-Request-Id")) == 16
    return status, without_budget(fields), body


@pytest.fixture
def _ada() -> None:
    user = UserFactory(username="Ada")
    Profile.objects.filter(pk=main_profile(user).pk).update(description="🌱" * 1900)
    shown(user)
    ApiKeyFactory(secret=SECRET, permissions=list(Permission.values))


@pytest.fixture
def _without_django(monkeypatch: pytest.MonkeyPatch) -> None:
    def django(*arguments: Any) -> list[bytes]:
        raise AssertionError

    monkeypatch.setattr(wsgi, "django_application", django)


REFUSED = [
    ("OPTIONS", LOOKUP, {}, "405 Method Not Allowed", "errors.methodNotAllowed"),
    ("TRACE", LOOKUP, {}, "405 Method Not Allowed", "errors.methodNotAllowed"),
    ("BREW", LOOKUP, {}, "405 Method Not Allowed", "errors.methodNotAllowed"),
    ("GET", LOOKUP, {"HOST": "elsewhere.example"}, "400 Bad Request", "errors.badRequest"),
    ("POST", LOOKUP, {"HOST": ""}, "400 Bad Request", "errors.badRequest"),
    ("GET", f"{NAME}a\x00", {}, "404 Not Found", "errors.notFound"),
    ("GET", f"{PRESENCE}\x00", {}, "400 Bad Request", "errors.lookupChatIdInvalid"),
    ("POST", LOOKUP, {"CONTENT_LENGTH": "70000"}, "405 Method Not Allowed", "errors.methodNotAllowed"),
]


@pytest.mark.usefixtures("_without_django")
@pytest.mark.parametrize(("method", "path", "headers", "status", "error"), REFUSED)
def test_what_no_lookup_answers_is_refused_without_django(
    method: str, path: str, headers: dict[str, str], status: str, error: str
) -> None:
    found, answered, body = send(path, "", method, **headers)
    assert (found, json.loads(body)["error"]) == (status, error)
    assert ALWAYS.items() <= answered.items()
    assert answered["Content-Length"] == str(len(body))


@pytest.mark.usefixtures("_without_django")
@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PUT", "BREW"])
def test_an_endpoint_of_the_protocol_refuses_every_other_method(method: str) -> None:
    status, headers, body = send(TOKEN, "", method)
    assert (status, headers["Allow"], json.loads(body)["error"]) == (
        "405 Method Not Allowed",
        "POST",
        "invalid_request",
    )


@pytest.mark.usefixtures("_without_django")
@pytest.mark.parametrize("path", [LOOKUP, f"{NAME}\xc3\xa9", TOKEN, DISCOVERY])
def test_a_request_that_went_around_the_edge_proxy_is_refused(settings: Settings, path: str) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = "X-Client-Address"
    for address in ({}, {"X_CLIENT_ADDRESS": "here"}):
        status, _, body = send(path, "", "GET", **address)
        assert (status, json.loads(body)) == ("403 Forbidden", {"error": "errors.forbidden"})
    assert send(path, "", "GET", X_CLIENT_ADDRESS="192.0.2.1")[0] != "403 Forbidden"


@pytest.mark.usefixtures("_without_django")
@pytest.mark.parametrize(
    ("path", "error"),
    [(LOOKUP, BUSY), (TOKEN, "temporarily_unavailable"), (KEY_SET, "temporarily_unavailable")],
)
def test_a_large_body_without_a_place_is_refused(monkeypatch: pytest.MonkeyPatch, path: str, error: str) -> None:
    monkeypatch.setattr(request_body._places(), "_value", 0)
    status, headers, body = send(path, "", "POST", CONTENT_LENGTH="70000")
    assert (status, json.loads(body)["error"]) == ("503 Service Unavailable", error)
    assert int(headers["Retry-After"]) > 0


ODD = ["", "ada", "a\xc3\xa9", "a\xff", "\xed\xa0\x80", "a b", "a\n", "a/b", "ada/", "%41", "..", "a;b", "a" * 3000]


@pytest.mark.parametrize("parent", [NAME, PRESENCE, "/api/lookup/uid/"])
@pytest.mark.parametrize("last", ODD)
def test_the_lane_finds_what_djangos_resolver_finds(parent: str, last: str) -> None:
    path = get_path_info({"PATH_INFO": parent + last})
    try:
        match = resolve(path)
    except Resolver404:
        match = None
    view_class = getattr(match.func, "view_class", None) if match else None
    found = lane.routes().find(path)
    assert (found is not None) == hasattr(view_class, "respond")
    if found is not None and match is not None:
        assert (type(found[0].view), found[1]) == (view_class, match.kwargs)


def test_the_host_that_only_serves_files_has_no_busy_paths(settings: Settings) -> None:
    settings.IMAGE_CDN_URL = "http://files.example"
    for name in ("ALLOWED_HOSTS", "HOSTS"):
        setattr(settings, name, [*getattr(settings, name), "files.example"])
    assert send(LOOKUP, HOST="files.example", **KEY)[0] == "404 Not Found"
    assert send(LOOKUP, **KEY)[0] == "401 Unauthorized"


@pytest.mark.usefixtures("_without_django")
def test_a_cookie_changes_nothing_of_a_public_document() -> None:
    assert send(DISCOVERY, COOKIE="sessionid=x; csrftoken=y") == send(DISCOVERY)


@pytest.mark.parametrize(
    ("query", "method", "headers", "status"),
    [
        ("a=%00", "GET", {}, "400 Bad Request"),
        ("", "TRACE", {}, "405 Method Not Allowed"),
        ("", "POST", {"CONTENT_LENGTH": "5000000"}, f"413 {HTTPStatus(413).phrase}"),
    ],
)
def test_a_document_outside_the_api_is_refused_with_a_page(
    query: str, method: str, headers: dict[str, str], status: str
) -> None:
    found, answered, _ = send(DISCOVERY, query, method, **headers)
    assert (found, answered["Content-Type"]) == (status, "text/html; charset=utf-8")


@pytest.mark.usefixtures("_ada", "_without_django")
def test_a_long_answer_is_compressed() -> None:
    plain = send(LOOKUP, ALL, **KEY)
    status, headers, body = send(LOOKUP, ALL, ACCEPT_ENCODING="gzip, br", **KEY)
    assert (status, headers["Content-Encoding"], headers["Content-Length"]) == ("200 OK", "gzip", str(len(body)))
    assert gzip.decompress(body) == plain[2]
    assert send(LOOKUP, ALL, ACCEPT_ENCODING="gzip;q=0", **KEY) == plain


@pytest.mark.usefixtures("_ada")
def test_over_https_the_answer_says_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsgi, "SCHEME", "https")
    settings.SECURE_HSTS_SECONDS = 60
    assert send(LOOKUP, "type=username&value=ada", **KEY)[1]["Strict-Transport-Security"].startswith("max-age=60")


@pytest.mark.usefixtures("_ada", "_without_django")
def test_what_a_query_asks_for_is_kept_for_other_values_unless_it_is_long_or_has_no_key() -> None:
    api._without_value.cache_clear()
    for key in ({}, KEY):
        for value in ("ada", "eve"):
            send(LOOKUP, f"type=username&value={value}&views=true", **key)
        send(LOOKUP, f"type=username&value=ada&{'u' * api.LONGEST_KEPT}=true", **key)
    assert api._without_value.cache_info().currsize == 1


@pytest.mark.parametrize(
    "before", ["", "type=uid&", "type=uid&value=2&", "type=uid&evalue=2&", "type=%75id&views=true&", "&"]
)
@pytest.mark.parametrize(
    "value", ["", "value", "value=", "value=7", "value=x", "value=%37", "value=+7", "value=7=", "value=\xe4"]
)
@pytest.mark.parametrize(
    "after",
    [
        "",
        "&",
        "&type=uid",
        "&value=8",
        "&views=true&views=true&links=true",
        "&badges=tru%65",
        "&" * 99,
        "&" * 199,
        "&" * 200,
    ],
)
def test_a_query_is_read_alike_from_what_is_kept_and_whole(before: str, value: str, after: str) -> None:
    def whole(text: str) -> object:
        query = Query(text)
        includes, prepared = api._prepared(query)
        return includes, prepared.of(query.single("value") or "")

    def outcome(read: Callable[[str], object]) -> object:
        try:
            return read(before + value + after)
        except (ApiError, SuspiciousOperation) as error:
            return type(error)

    assert outcome(api._asked) == outcome(api._asked) == outcome(whole)


@pytest.mark.usefixtures("_ada", "_without_django")
@pytest.mark.parametrize(
    ("error", "status", "signals"), [(RuntimeError("a secret"), 500, 1), (OperationalError("gone"), 503, 0)]
)
def test_an_error_is_logged_once_and_says_nothing_of_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception, status: int, signals: int
) -> None:
    def broken(*arguments: Any) -> bytes:
        raise error

    sent: list[object] = []

    def note(**kwargs: object) -> None:
        sent.append(kwargs)

    monkeypatch.setattr(api, "_answer", broken)
    got_request_exception.connect(note)
    try:
        found, headers, body = send(LOOKUP, "type=username&value=ada", **KEY)
    finally:
        got_request_exception.disconnect(note)
    assert (int(found[:3]), len(sent)) == (status, signals)
    assert b"secret" not in body
    assert ALWAYS.items() <= headers.items()
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_a_refusal_that_cannot_be_rendered_is_a_failure_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(ObservedRequest, "refusal", lambda observed: broken)
    found, _, body = send(LOOKUP, "type=username&value=ada", **KEY)
    assert (found, body) == ("500 Internal Server Error", b'{"error":"errors.internal"}')
