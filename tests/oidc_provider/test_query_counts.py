"""The statements of each request, with transactions. Each additional one needs a reason here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import LinkedAccount, User
from tests.factories.accounts import LinkedAccountFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.oidc_provider.protocol import (
    CONNECTED_APPS,
    DISCOVERY,
    EVERY_SCOPE,
    KEY_SET,
    App,
    authorize,
    code_for,
    userinfo,
)
from tests.support import redis_commands

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
# A transaction inside that of the test is a savepoint.
TRANSACTIONS = {"BEGIN": "BEGIN", "COMMIT": "COMMIT", "SAVEPOINT": "BEGIN", "RELEASE": "COMMIT"}
_INNERMOST = re.compile(r"\([^()]*\)")
_STATEMENT = re.compile(
    r"\s*(?P<verb>\w+).*?\b(?:FROM|INTO|UPDATE)\s+\"?(?:oidc_provider_|accounts_|django_)?(?P<table>\w+)", re.DOTALL
)


def _statements(act: Callable[[], Any]) -> list[str]:
    """Return the statements of `act` as `VERB first_table`."""
    with CaptureQueriesContext(connection) as captured:
        act()
    return [_name(query["sql"]) for query in captured.captured_queries]


def _name(sql: str) -> str:
    """Return verb and table of a statement, without its subqueries."""
    verb = sql.split(maxsplit=1)[0]
    if verb in TRANSACTIONS:
        return TRANSACTIONS[verb]
    while (shorter := _INNERMOST.sub("", sql)) != sql:
        sql = shorter
    found = _STATEMENT.match(f"UPDATE {sql}" if verb == "UPDATE" else sql)
    assert found is not None, sql
    return f"{found['verb']} {found['table']}"


@pytest.fixture
def app(app: App, browser: Client, user: User) -> App:
    """An app that was used before: the signing key is in memory, as at nearly every request."""
    for kind in LinkedAccount.Kind:
        LinkedAccountFactory(user=user, kind=kind)
    app.sign_in(browser)
    return app


def _issues(used_up: str, *inserted: str) -> list[str]:
    """Use up a code or token and insert tokens: on PostgreSQL one statement, which commits by itself."""
    if connection.vendor == "postgresql":
        return [f"WITH {inserted[-1]}"]
    return ["BEGIN", f"UPDATE {used_up}", *(f"INSERT {table}" for table in inserted), "COMMIT"]


@pytest.mark.parametrize(
    ("scope", "inserted"), [(EVERY_SCOPE, ["accesstoken", "refreshtoken"]), ("openid", ["accesstoken"])]
)
def test_an_exchange_is_two_statements(app: App, browser: Client, scope: str, inserted: list[str]) -> None:
    code = code_for(browser, app.application, scope=scope, prompt="consent")
    assert _statements(lambda: app.exchange(code)) == [
        "SELECT application",  # the app, its code, whose it is
        *_issues("grant", *inserted),
    ]


def test_a_refresh_is_two_statements(app: App, browser: Client) -> None:
    token = app.sign_in(browser)["refresh_token"]
    assert _statements(lambda: app.refresh(token)) == [
        "SELECT application",  # the app, its refresh token, whose it is
        *_issues("refreshtoken", "accesstoken", "refreshtoken"),
    ]


def test_userinfo_is_one_statement(app: App, browser: Client) -> None:
    token = app.sign_in(browser)["access_token"]
    assert _statements(lambda: userinfo(token)) == ["SELECT accesstoken"]  # with its app and its user


def test_introspection_is_one_statement(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    for kind in ("access_token", "refresh_token"):
        act = lambda kind=kind: app.introspect(tokens[kind])  # noqa: E731 - bound early
        assert _statements(act) == ["SELECT application"]  # with a token of either kind


@pytest.mark.django_db(transaction=True)
def test_revoking_is_four_statements_and_ten_for_a_refresh_token(app: App, browser: Client) -> None:
    """Django's DELETE opens no savepoint, so its transaction is seen in a test that commits alone."""
    tokens = app.sign_in(browser)
    assert _statements(lambda: app.revoke(tokens["access_token"])) == [
        "SELECT application",  # who asks
        "BEGIN",
        "DELETE accesstoken",
        "COMMIT",
    ]
    assert _statements(lambda: app.revoke(tokens["refresh_token"])) == [
        "SELECT application",  # who asks
        "BEGIN",
        "DELETE accesstoken",  # it is none
        "COMMIT",
        "SELECT refreshtoken",  # its family
        "BEGIN",
        "DELETE refreshtoken",  # waits for a refresh that is under way
        "DELETE refreshtoken",  # and what that refresh has inserted
        "DELETE accesstoken",
        "COMMIT",
    ]


def test_a_kept_approval_is_five_statements(app: App, browser: Client) -> None:
    statements = _statements(lambda: authorize(browser, app.application, scope=EVERY_SCOPE))
    assert [name for name in statements if name != "SELECT session"] == [
        "SELECT application",  # what may be asked
        "SELECT user",  # who sits at the browser
        "SELECT approval",  # what they allowed
        "INSERT grant",  # the code
    ]
    assert len(statements) <= 5  # the session, unless it is in the cache


def test_an_authorization_request_refused_before_login_is_one_statement(app: App) -> None:
    for changes in ({"scope": "profile"}, {"prompt": "none"}):
        act = lambda changes=changes: authorize(Client(), app.application, **changes)  # noqa: E731 - bound early
        assert _statements(act) == ["SELECT application"]


@pytest.mark.parametrize("scope", ["openid", EVERY_SCOPE])
def test_a_consent_page_costs_the_same_for_any_number_of_scopes(app: App, browser: Client, scope: str) -> None:
    path = authorize(browser, app.application, scope=scope, prompt="consent")["Location"]
    statements = _statements(lambda: browser.get(path))
    assert [name for name in statements if name != "SELECT session"] == [
        "SELECT pendingrequest",  # with its app, the app's owner and logo
        "SELECT user",  # who sits at the browser
        "SELECT approval",  # what they allowed before
        "SELECT subquery",  # how many people use the app: approvals up to a limit
        "SELECT user",  # the values that would be shared
    ]


@pytest.mark.parametrize("count", [1, 10])
def test_the_connected_apps_cost_the_same_for_one_and_for_ten(app: App, browser: Client, count: int) -> None:
    user = app.application.approvals.get().user
    for _ in range(count - 1):
        ApprovalFactory(user=user, application=ApplicationFactory())
    statements = _statements(lambda: browser.get(CONNECTED_APPS))
    assert [name for name in statements if name != "SELECT session"] == [
        "SELECT user",  # who sits at the browser
        "SELECT approval",  # with app, owner and logo, and when it was used last
        "SELECT accountdeletion",  # which the frame would tell of
    ]


def test_discovery_costs_nothing_and_the_key_set_one_statement(app: App) -> None:
    assert _statements(lambda: Client().get(DISCOVERY)) == []
    assert _statements(lambda: Client().get(KEY_SET)) == ["SELECT signingkey"]


def test_a_failed_client_authentication_is_one_statement(app: App) -> None:
    assert _statements(lambda: app.exchange("unknown", client_secret="wrong")) == ["SELECT application"]
    assert _statements(lambda: app.refresh("unknown", client_secret="wrong")) == ["SELECT application"]
    assert _statements(lambda: app.revoke("unknown", client_secret="wrong")) == ["SELECT application"]


def test_each_request_to_the_protocol_is_one_round_trip_to_redis(
    app: App, browser: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of its limit, which is in the process without Redis. Discovery has no limit."""
    tokens, code = app.sign_in(browser), code_for(browser, app.application, scope=EVERY_SCOPE, prompt="consent")
    commands = redis_commands.noted(monkeypatch)
    limited = (
        lambda: app.exchange(code),
        lambda: userinfo(tokens["access_token"]),
        lambda: app.introspect(tokens["access_token"]),
        lambda: app.refresh(tokens["refresh_token"]),
        lambda: app.revoke(tokens["access_token"]),
        lambda: app.exchange("unknown", client_secret="wrong"),
        lambda: Client().get(KEY_SET),
    )
    for act in limited:
        act()
        assert commands == (["EVALSHA"] if settings.REDIS_URL else [])
        commands.clear()
    Client().get(DISCOVERY)
    assert commands == []
