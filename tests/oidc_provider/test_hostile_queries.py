"""Whatever stands in a URL or a header: no server error, and nothing stored."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.test import Client

from oidc_provider import applications
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    DISCOVERY,
    END_SESSION,
    FORM,
    INTROSPECT,
    INVALID_TOKEN,
    KEY_SET,
    REVOKE,
    TOKEN,
    USERINFO,
    App,
    authorization_query,
    refused,
    sent_back,
    userinfo,
)
from tests.oidc_provider.test_hostile_bodies import VALUES, rows

PARAMETERS = (
    "client_id redirect_uri response_type scope state code_challenge code_challenge_method nonce prompt max_age "
    "login_hint id_token_hint request request_uri response_mode claims display ui_locales acr_values"
).split()
ENDPOINTS = [AUTHORIZE, TOKEN, USERINFO, INTROSPECT, REVOKE, END_SESSION, KEY_SET, DISCOVERY]
BROKEN = ["%zz", "%", "%FF", "%ED%A0%80", "%C0%AF", "%00", "\xff"]


@pytest.fixture
def nothing_is_stored(app: App, browser: Client) -> Iterator[None]:
    browser.get("/")
    before = rows()
    yield
    assert rows() == before


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("who", ["signed in", "nobody"])
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_hostile_parameter_is_answered_with_a_page_or_a_redirect_to_the_app(
    app: App, browser: Client, name: str, who: str
) -> None:
    visitor = browser if who == "signed in" else Client()
    query = {"prompt": "none", name: None}
    for value in [*map(quote, VALUES), *BROKEN]:
        answer = visitor.get(f"{AUTHORIZE}?{authorization_query(app.application, **query)}&{name}={value}")
        if answer.status_code == 400:
            assert name in {"client_id", "redirect_uri"}
        elif name != "prompt" or "Location" not in answer:
            assert answer["Location"].startswith("https://app.example.org/callback?error=")
            assert "error_description" in sent_back(answer)


@pytest.mark.parametrize(
    "port", ["0", "65536", "99999", "999999", "-1", "9" * 400, "\uff18\uff10", "%00", "x", "80:80", ""]
)
def test_a_hostile_port_of_a_loopback_url_is_an_invalid_redirect(browser: Client, app: App, port: str) -> None:
    applications.change_redirect_urls(application=app.application, redirect_urls=["http://127.0.0.1/cb"], by=None)
    before = rows()
    for url in (f"http://127.0.0.1:{port}/cb", f"http://127.0.0.1:{port}"):
        answer = browser.get(f"{AUTHORIZE}?{authorization_query(app.application, redirect_uri=url)}")
        assert answer.status_code == 400
        assert "invalid_redirect" in answer.content.decode()
    assert rows() == before


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(
    "query", ["x=%zz", "%FF", "x=%00", "&&&", "=", "x=" + "x" * 10_000, "a=1&" * 3_000], ids=lambda query: query[:12]
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_hostile_query_breaks_no_endpoint(path: str, query: str) -> None:
    for method in ("GET", "POST"):
        answer = Client(enforce_csrf_checks=True).generic(method, f"{path}?{query}", content_type=FORM)
        assert answer.status_code < 500


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer eyx.y.z"},
        {"authorization": "Bearer \xff"},
        {"authorization": "Basic \xff"},
        {"authorization": "Basic =:="},
        {"authorization": "x" * 10_000},
        {"accept": ";;;q=zzz,,"},
        {"accept": "\xff"},
        {"accept": "text/html;q=" + "9" * 400},
        {"accept": "*/*," * 2_000},
        {"accept-language": "zz-" * 2_000},
        {"if-none-match": '"' * 5_000},
        {"if-modified-since": "yesterday"},
        {"cookie": "sessionid=%00; csrftoken=\xff"},
        {"content-length": "0"},
        {"x-forwarded-for": "\x00"},
        {"x-http-method-override": "DELETE"},
    ],
    ids=lambda headers: ascii(headers)[:40],
)
@pytest.mark.usefixtures("nothing_is_stored")
def test_a_hostile_header_breaks_no_endpoint(path: str, headers: dict[str, str]) -> None:
    for method in ("GET", "POST"):
        answer = Client(enforce_csrf_checks=True).generic(method, path, content_type=FORM, headers=headers)
        assert answer.status_code < 500


@pytest.mark.parametrize("path", [TOKEN, AUTHORIZE, USERINFO])
def test_another_host_is_refused(path: str, db: None) -> None:
    answer = Client().get(path, headers={"host": "evil.example"})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "path", ["/api/auth/", "/api/auth/oauth2/", f"{TOKEN}/", "/api/auth/oauth2/register", f"{KEY_SET}/"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_an_unknown_path_is_404_in_json(path: str, method: str, db: None) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, path, "x=1", content_type=FORM)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert answer.json() == {"error": "errors.notFound"}


@pytest.mark.parametrize("kind", ["id_token", "refresh_token"])
def test_no_other_kind_of_token_is_a_bearer_token(app: App, browser: Client, kind: str) -> None:
    assert refused(userinfo(app.sign_in(browser)[kind])) == INVALID_TOKEN
