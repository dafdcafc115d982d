"""Whole sign-ins with Authlib, and with openid-client, the certified library for JavaScript."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.journeys import people
from tests.journeys.browser import Browser
from tests.journeys.node_app import NodeApp
from tests.journeys.people import App, Person
from tests.journeys.relying_party import RelyingParty, error_of
from tests.journeys.services import Service

pytestmark = pytest.mark.live


@pytest.fixture
def app(service: Service) -> App:
    return people.new_app(service.operator, scopes=people.ALL_SCOPES)


@pytest.fixture(params=["client_secret_basic", "client_secret_post"])
def party(request: pytest.FixtureRequest, service: Service, app: App) -> Iterator[RelyingParty]:
    """One party for each client authentication method."""
    party = RelyingParty(service.base_url, app, auth_method=request.param)
    with party.session:
        yield party


@pytest.fixture
def tokens(browser: Browser, person: Person, party: RelyingParty) -> dict[str, Any]:
    """Return the token response after `person` has signed in and allowed every scope."""
    person.sign_in(browser.open(party.begin()))
    assert browser.heading.startswith(f"{party.app.name} wants to use your")
    return party.finish(browser.press("Allow").left_for)


def test_the_tokens_are_as_documented(tokens: dict[str, Any]) -> None:
    names = ("access_token", "token_type", "expires_in", "expires_at", "scope", "id_token", "refresh_token")
    assert set(tokens) == set(names)
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert tokens["scope"].split() == list(people.ALL_SCOPES)
    assert abs(tokens["expires_at"] - time.time() - 3600) < 60


def test_userinfo_and_id_token_say_the_same(
    service: Service, person: Person, party: RelyingParty, tokens: dict[str, Any]
) -> None:
    account = {"kind": "CHAT", "external_id": f"4{person.uid}", "name": "ivy"}
    service.operator.do("link_account", username=person.username, **account)
    refreshed = party.refresh(tokens["refresh_token"])
    first = party.claims(tokens["id_token"], nonce=party.nonce)
    second = party.claims(refreshed["id_token"], nonce=None)
    profile = party.userinfo(refreshed["access_token"]).json()

    assert profile == {
        "sub": person.id,
        "uid": person.uid,
        "name": person.username,
        "preferred_username": person.username,
        "profile": f"{service.base_url}/{person.username}",
        "email": person.email,
        "email_verified": True,
        "connections": [{"type": "chat", "id": f"4{person.uid}", "name": "ivy"}],
    }
    assert {name: second[name] for name in profile} == profile
    assert {name: first[name] for name in profile} == {**profile, "connections": []}
    assert second["auth_time"] == first["auth_time"]
    assert first["exp"] - first["iat"] == 10 * 3600


def test_tokens_are_refreshed_described_and_revoked(
    service: Service, person: Person, party: RelyingParty, tokens: dict[str, Any]
) -> None:
    refreshed = party.refresh(tokens["refresh_token"])
    assert refreshed["refresh_token"] != tokens["refresh_token"]
    assert refreshed["access_token"] != tokens["access_token"]
    described = party.introspect(refreshed["access_token"])
    assert described == {
        "active": True,
        "iss": service.base_url,
        "client_id": party.app.client_id,
        "sub": person.id,
        "scope": " ".join(people.ALL_SCOPES),
        "token_type": "Bearer",
        "exp": described["iat"] + 3600,
        "iat": described["iat"],
    }
    assert party.introspect(tokens["access_token"])["active"] is True
    party.revoke(refreshed["refresh_token"])
    for token in (tokens["access_token"], refreshed["access_token"], refreshed["refresh_token"]):
        assert party.introspect(token) == {"active": False}
    assert error_of(lambda: party.refresh(refreshed["refresh_token"])) == "invalid_grant"


def test_no_secret_reaches_the_log(service: Service, browser: Browser, person: Person, party: RelyingParty) -> None:
    person.sign_in(browser.open(party.begin()))
    callback = browser.press("Allow").left_for
    tokens = party.finish(callback)
    party.refresh(tokens["refresh_token"])
    assert party.userinfo("wrong-token").status_code == 401
    log = service.log_text()
    code = party.answer(callback)["code"]
    for secret in (person.password, party.app.client_secret, code, tokens["access_token"], tokens["refresh_token"]):
        assert secret not in log


def test_without_offline_access_there_is_no_refresh_token(
    service: Service, browser: Browser, person: Person, party: RelyingParty
) -> None:
    person.sign_in(browser.open(party.begin(scope="openid identify")))
    tokens = party.finish(browser.press("Allow").left_for)
    assert "refresh_token" not in tokens
    assert party.userinfo(tokens["access_token"]).json()["sub"] == person.id


def test_a_code_works_once_and_its_second_use_ends_what_came_from_it(
    browser: Browser, person: Person, party: RelyingParty
) -> None:
    person.sign_in(browser.open(party.begin()))
    callback = browser.press("Allow").left_for
    tokens = party.finish(callback)
    assert party.userinfo(tokens["access_token"]).status_code == 200
    assert error_of(lambda: party.finish(callback)) == "invalid_grant"
    assert party.userinfo(tokens["access_token"]).status_code == 401
    assert error_of(lambda: party.refresh(tokens["refresh_token"])) == "invalid_grant"


def test_a_reset_secret_replaces_the_old_one_at_once(
    service: Service, browser: Browser, person: Person, party: RelyingParty
) -> None:
    person.sign_in(browser.open(party.begin()))
    callback = browser.press("Allow").left_for
    new = service.operator.do("reset_secret", client_id=party.app.client_id)["client_secret"]
    assert error_of(lambda: party.finish(callback)) == "invalid_client"
    party.session.client_secret = new
    assert party.finish(callback)["token_type"] == "Bearer"


@pytest.fixture
def started() -> Iterator[Callable[[NodeApp], NodeApp]]:
    """Ends the program with the test."""
    apps: list[NodeApp] = []

    def keep(app: NodeApp) -> NodeApp:
        apps.append(app)
        return app

    yield keep
    for app in apps:
        app.leave()


@pytest.mark.parametrize("auth_method", ["client_secret_basic", "client_secret_post"])
def test_an_app_signs_a_user_in(
    service: Service,
    browser: Browser,
    person: Person,
    app: App,
    started: Callable[[NodeApp], NodeApp],
    auth_method: str,
) -> None:
    node = started(NodeApp(service.base_url, app, auth_method=auth_method))
    person.sign_in(browser.open(node.begin()))
    result = node.finish(browser.press("Allow").left_for)
    assert result["userinfo"] == {
        "sub": person.id,
        "uid": person.uid,
        "name": person.username,
        "preferred_username": person.username,
        "profile": f"{service.base_url}/{person.username}",
        "email": person.email,
        "email_verified": True,
        "connections": [],
    }
    assert {name: result["claims"][name] for name in result["userinfo"]} == result["userinfo"]
    assert result["refreshed"]["claims"]["auth_time"] == result["claims"]["auth_time"]
    assert result["refreshed"]["refresh_token"] != result["tokens"]["refresh_token"]
    assert result["active"]["sub"] == person.id
    assert result["active"]["scope"] == " ".join(people.ALL_SCOPES)
    assert result["inactive"] == {"active": False}
