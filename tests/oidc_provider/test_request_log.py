"""What the request log holds of each request of an app, and what it must not hold."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from oidc_provider.applications import applications
from oidc_provider.log import request_log
from oidc_provider.models import OK, LastUse, RequestRecord, UsageCount
from tests.factories.oidc_provider import CLIENT_SECRET, CODE_CHALLENGE, CODE_VERIFIER, PendingRequestFactory
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    KEY_SET,
    TOKEN,
    USERINFO,
    App,
    authorize,
    basic,
    code_for,
    decide,
    post,
    userinfo,
)

pytestmark = pytest.mark.django_db
Row = tuple[str, str, str]


def written() -> list[RequestRecord]:
    request_log.buffer.write()
    return list(RequestRecord.objects.order_by("pk"))


def rows() -> list[Row]:
    """Return kind, outcome and username of each record, in the order of the requests."""
    return [(row.kind, row.outcome, row.user.username if row.user else "") for row in written()]


def test_a_whole_sign_in_is_noted_step_by_step(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    userinfo(tokens["access_token"])
    app.introspect(tokens["access_token"])
    newer = app.refresh(tokens["refresh_token"]).json()
    app.revoke(newer["refresh_token"])
    assert rows() == [
        ("ASKED", OK, "Ada"),
        ("APPROVED", OK, "Ada"),
        ("CODE", OK, "Ada"),
        ("USERINFO", OK, "Ada"),
        ("INTROSPECT", OK, "Ada"),
        ("REFRESH", OK, "Ada"),
        ("REVOKE", OK, ""),
    ]


def test_the_consent_page_its_refusal_and_a_kept_approval_are_noted(app: App, browser: Client) -> None:
    answer = authorize(browser, app.application)
    browser.get(answer["Location"])
    decide(browser, answer, "cancel")
    decide(browser, authorize(browser, app.application))
    authorize(browser, app.application)
    assert rows() == [
        ("ASKED", OK, "Ada"),
        ("SHOWN", OK, "Ada"),
        ("DENIED", "access_denied", "Ada"),
        ("ASKED", OK, "Ada"),
        ("APPROVED", OK, "Ada"),
        ("KEPT", OK, "Ada"),
    ]


def test_the_way_to_the_login_page_is_one_record(app: App) -> None:
    visitor = Client()
    pending = PendingRequestFactory(application=app.application)
    authorize(visitor, app.application)
    visitor.get(reverse("consent", args=[pending.pk]))
    assert rows() == [("ASKED", OK, "")]


@pytest.mark.parametrize(
    ("changes", "outcome", "redirect_uri"),
    [
        ({"scope": "openid profile"}, "invalid_scope", ""),
        ({"prompt": "none"}, "login_required", ""),
        (
            {"redirect_uri": "https://user:word@app.example.org/other?code=hush#hush"},
            "invalid_redirect",
            "https://app.example.org/other",
        ),
        ({"redirect_uri": None}, "invalid_redirect", ""),
    ],
)
def test_an_error_of_an_authorization_request_is_noted(
    app: App, changes: dict[str, Any], outcome: str, redirect_uri: str
) -> None:
    authorize(Client(), app.application, **changes)
    (row,) = written()
    assert (row.kind, row.outcome, row.redirect_uri, row.user) == ("ASKED", outcome, redirect_uri, None)
    assert row.description


def test_a_suspended_app_finds_its_refusals_in_the_log(app: App) -> None:
    applications.suspend(application=app.application, by=None, reason="Spam.")
    authorize(Client(), app.application)
    app.exchange("unknown")
    assert rows() == [("ASKED", "client_disabled", ""), ("CODE", "invalid_client", "")]


def test_a_sign_in_that_took_too_long_is_noted(app: App, browser: Client, clock: Any) -> None:
    answer = authorize(browser, app.application)
    clock.shift(601)
    page = browser.get(answer["Location"])
    assert rows()[-1] == ("ASKED", "expired", "")
    assert written()[-1].request_id in page.content.decode()


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({"code": "unknown"}, ("CODE", "invalid_grant", "")),
        ({"client_secret": "wrong"}, ("CODE", "invalid_client", "")),
        ({"code_verifier": "w" * 43}, ("CODE", "invalid_grant", "Ada")),
        ({"grant_type": "client_credentials"}, ("TOKEN", "unauthorized_client", "")),
        ({"grant_type": None}, ("TOKEN", "invalid_request", "")),
    ],
)
def test_an_error_at_the_token_endpoint_is_noted(app: App, browser: Client, changes: dict[str, Any], row: Row) -> None:
    code = code_for(browser, app.application)
    request_log.buffer.clear()
    app.post(
        TOKEN,
        **{
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": app.application.redirect_urls[0],
            "code_verifier": CODE_VERIFIER,
            **changes,
        },
    )
    assert rows() == [row]


def test_a_body_that_cannot_be_read_is_noted_for_the_app_that_it_names(app: App) -> None:
    client_id = app.application.client_id
    post(TOKEN, f'{{"client_id": "{client_id}"}}', content_type="application/json")
    post(TOKEN, "{}", content_type="application/json", authorization=basic(client_id, CLIENT_SECRET))
    post(f"{TOKEN}?client_id={client_id}", {"grant_type": "refresh_token"})
    Client().post(TOKEN, {"client_id": client_id})  # multipart
    assert [row.outcome for row in written()] == ["invalid_request"] * 4


def test_an_access_token_without_openid_is_noted_for_its_app(app: App, browser: Client) -> None:
    token = app.sign_in(browser, "identify")["access_token"]
    request_log.buffer.clear()
    userinfo(token)
    assert rows() == [("USERINFO", "insufficient_scope", "Ada")]


def test_nothing_is_noted_of_apps_that_do_not_exist(app: App, browser: Client) -> None:
    unknown = "0" * 32
    authorize(browser, app.application, client_id=unknown)
    app.exchange("unknown", client_id=unknown)
    app.exchange("unknown", client_id="' or 1=1")
    userinfo("unknown")
    assert rows() == []
    assert not UsageCount.objects.exists()


def test_no_secret_code_token_verifier_or_state_is_kept(app: App, browser: Client) -> None:
    state = "the-state-of-the-tests"
    tokens = app.sign_in(browser, state=state, nonce="the-nonce-of-the-tests")
    authorize(browser, app.application, state=state, scope="profile")
    app.exchange("the-code-of-the-tests", code_verifier=CODE_VERIFIER)
    app.refresh(tokens["refresh_token"])
    app.refresh(tokens["refresh_token"])
    userinfo(tokens["access_token"])
    kept = repr(list((written(), RequestRecord.objects.values())[1]))
    secrets = [CLIENT_SECRET, CODE_VERIFIER, CODE_CHALLENGE, state, "the-nonce-of-the-tests", "the-code-of-the-tests"]
    secrets += [tokens["access_token"], tokens["refresh_token"], tokens["id_token"]]
    assert [secret for secret in secrets if secret in kept] == []
    assert "Ada" not in kept  # the user is a reference, which ends with the account


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
    ],
)
def test_of_the_address_the_network_alone_is_kept(app: App, address: str, network: str) -> None:
    Client(REMOTE_ADDR=address).get(AUTHORIZE, {"client_id": app.application.client_id})
    assert [row.network for row in written()] == [network]


def test_a_person_whose_account_is_deleted_leaves_the_records(app: App, browser: Client, user: User) -> None:
    app.sign_in(browser)
    assert {row.user for row in written()} == {user}
    user.delete()
    assert {row.user for row in RequestRecord.objects.all()} == {None}
    assert not LastUse.objects.exists()


@pytest.mark.parametrize("path", [AUTHORIZE, TOKEN, USERINFO, KEY_SET])
def test_every_answer_carries_its_own_request_id(db: None, path: str) -> None:
    ids = {Client().get(path)["X-Request-Id"] for _ in range(2)}
    assert len(ids) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", request_id) for request_id in ids)


def test_an_error_page_names_the_id_of_its_request_and_json_stays_as_it_is(app: App) -> None:
    page = authorize(Client(), app.application, redirect_uri="https://elsewhere.example")
    assert page["X-Request-Id"] in page.content.decode()
    assert page["X-Request-Id"] == written()[0].request_id
    body = authorize(Client(), app.application, redirect_uri="https://elsewhere.example", accept="application/json")
    assert set(body.json()) == {"error", "error_description"}
