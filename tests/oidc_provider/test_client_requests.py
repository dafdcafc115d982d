"""How form parameters and credentials of apps are read, and client authentication at the endpoints."""

from __future__ import annotations

import base64

import pytest
from django.test import Client

from infrastructure.hashing import SecretHasher
from oidc_provider import client_requests, request_log
from oidc_provider.applications import applications, scopes
from oidc_provider.client_requests import MAX_FIELDS, Credentials
from oidc_provider.errors import InvalidClient, InvalidRequest
from oidc_provider.models import Application
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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("a=1&b=2", {"a": "1", "b": "2"}),
        ("&&a=1", {"a": "1"}),
        ("a", {}),
        ("a=", {}),
        ("=1", {"": "1"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=1;b=2", {"a": "1;b=2"}),
        ("a=x+y", {"a": "x y"}),
        ("a=x%2By", {"a": "x+y"}),
        ("a=é", {"a": "é"}),
        ("%61=1", {"a": "1"}),
        ("a=%00", {"a": "\x00"}),
        ("A=1&a=2", {"A": "1", "a": "2"}),
    ],
)
def test_values_are_decoded_and_empty_ones_left_out(text: str, values: dict[str, str]) -> None:
    form = client_requests.parse(text)
    assert (form.values, form.repeated, form.is_malformed) == (values, frozenset(), False)


@pytest.mark.parametrize(
    ("text", "repeated", "value"),
    [
        ("a=1&a=1", {"a"}, "1"),
        ("a=&a=2", {"a"}, "2"),
        ("a&a", {"a"}, ""),
        ("a=1&%61=2", {"a"}, "1"),
        ("a=1&b=1&a=2&b=2&c=3", {"a", "b"}, "1"),
    ],
)
def test_repeated_names_are_returned_and_the_first_value_is_kept(text: str, repeated: set[str], value: str) -> None:
    form = client_requests.parse(text)
    assert (set(form.repeated), form.get("a"), form.is_malformed) == (repeated, value, False)


@pytest.mark.parametrize("text", ["a=%", "a=%zz", "a=1%&b=2", "%zz=1"])
def test_a_broken_escape_is_malformed(text: str) -> None:
    assert client_requests.parse(text).is_malformed


@pytest.mark.parametrize("text", ["a=%FF", "a=%ED%A0%80", "%FF=1"])
def test_broken_utf_8_is_malformed_and_the_rest_can_still_be_read(text: str) -> None:
    form = client_requests.parse(f"state=x&{text}")
    assert form.is_malformed
    assert form.get("state") == "x"


@pytest.mark.parametrize(("count", "is_malformed"), [(MAX_FIELDS, False), (MAX_FIELDS + 1, True)])
def test_too_many_fields_are_malformed(count: int, is_malformed: bool) -> None:
    form = client_requests.parse("&".join(f"f{number}=1" for number in range(count)))
    assert form.is_malformed is is_malformed
    assert len(form.values) == (0 if is_malformed else count)


def test_a_name_that_is_not_there_is_the_empty_string() -> None:
    assert client_requests.parse("a=1").get("b") == ""


def test_required_names_everything_that_is_missing() -> None:
    form = client_requests.parse("a=1&b=")
    client_requests.required(form, "a")
    with pytest.raises(InvalidRequest, match=r"Missing parameter: b, c\."):
        client_requests.required(form, "a", "b", "c")


@pytest.mark.parametrize(
    "text", ["openid", "openid identify", "openid openid", "unknown !#[]~", " openid", "openid ", "a  b", "\ta \t b\t"]
)
def test_names_have_spaces_and_tabs_between_two(text: str) -> None:
    assert scopes.parse(text) == text.split()


@pytest.mark.parametrize("text", ["", " ", "\t", "a\nb", "a\u00a0b", "a\n", 'a"b', "a\\b", "é", "a\x00"])
def test_everything_else_is_malformed(text: str) -> None:
    assert scopes.parse(text) == []


def test_the_documents_order_counts_and_each_name_once() -> None:
    assert scopes.in_order(scopes.parse("identify unknown openid identify")) == ["openid", "identify"]


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
    claimed = client_requests.credentials_of(authorization, client_requests.parse(form))
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
    assert client_requests.lookup_id(client_id) == ""


@pytest.mark.parametrize(
    "secret", ["wrong", "", "\x00", "é", "x" * 10_000, "secret_sha256$"], ids=lambda text: text[:9]
)
def test_a_secret_is_compared_as_a_whole(secret: str) -> None:
    stored = SecretHasher().encode("right", ""), ""
    client_requests.authenticate(Credentials("a", "right"), stored, is_usable=True)
    with pytest.raises(InvalidClient):
        client_requests.authenticate(Credentials("a", secret), stored, is_usable=True)


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
def test_a_second_secret_is_accepted_until_it_is_removed_or_both_are_reset(path: str, app: App) -> None:
    second = App(app.application, applications.add_secret(application=app.application, by=None))
    assert _is_let_in(path, app.post(path, **FIELDS[path]))
    assert _is_let_in(path, second.post(path, **FIELDS[path]))
    first = Application.objects.get(pk=app.application.pk).secrets[0]
    applications.remove_secret(application=app.application, changed_at=first.changed_at, by=None)
    assert refused(app.post(path, **FIELDS[path])) == INVALID_CLIENT
    assert _is_let_in(path, second.post(path, **FIELDS[path]))
    third = App(app.application, applications.add_secret(application=app.application, by=None))
    assert _is_let_in(path, third.post(path, **FIELDS[path]))
    applications.reset_secret(application=app.application, by=None)
    for old in (app, second, third, App(app.application, "")):
        assert refused(old.post(path, **FIELDS[path])) == INVALID_CLIENT


@ENDPOINTS
def test_a_use_is_noted_for_the_secret_that_was_sent(path: str, app: App) -> None:
    second = App(app.application, applications.add_secret(application=app.application, by=None))
    app.post(path, **FIELDS[path], client_secret="wrong")
    request_log.buffer.write()
    assert [secret.used_at for secret in Application.objects.get().secrets] == [None, None]
    second.post(path, **FIELDS[path])
    request_log.buffer.write()
    first, used = (secret.used_at for secret in Application.objects.get().secrets)
    assert (first, used is None) == (None, False)


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
