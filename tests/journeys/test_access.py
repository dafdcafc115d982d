"""An app loses its access and gets it back."""

from dataclasses import dataclass
from typing import Any

import pytest
import requests

from tests.journeys.browser import TIMEOUT, Browser
from tests.journeys.people import Person
from tests.journeys.relying_party import RelyingParty, error_of
from tests.journeys.services import Service
from tests.support import threads

pytestmark = pytest.mark.live


@dataclass(frozen=True)
class Grant:
    """The app's state after a sign-in. `tokens`: the answer of the token endpoint."""

    party: RelyingParty
    tokens: dict[str, Any]

    def assert_dead(self, error: str = "invalid_grant") -> None:
        assert self.party.userinfo(self.tokens["access_token"]).status_code == 401
        assert error_of(lambda: self.party.refresh(self.tokens["refresh_token"])) == error


@pytest.fixture
def grant(browser: Browser, person: Person, party: RelyingParty) -> Grant:
    """`person` is signed in at `browser`, and the app has tokens."""
    person.sign_in(browser.open(party.begin()))
    tokens = party.finish(browser.press("Allow").left_for)
    assert party.userinfo(tokens["access_token"]).json()["sub"] == person.id
    return Grant(party, tokens)


def test_a_disconnected_app_loses_its_access_and_has_to_ask_again(browser: Browser, grant: Grant) -> None:
    name = grant.party.app.name
    browser.open("/accounts/connected-apps/")
    assert name in browser.text
    browser.press("Disconnect")
    assert browser.path == "/accounts/connected-apps/"
    assert f"{name} is disconnected." in browser.text
    assert "No app is connected yet" in browser.text

    grant.assert_dead()
    assert grant.party.introspect(grant.tokens["access_token"]) == {"active": False}
    assert browser.open(grant.party.begin()).heading.startswith(f"{name} wants to use your")
    assert grant.party.finish(browser.press("Allow").left_for)["token_type"] == "Bearer"


def test_a_suspended_app_is_refused_everywhere(service: Service, browser: Browser, grant: Grant) -> None:
    service.operator.do("suspend", client_id=grant.party.app.client_id)
    browser.open(grant.party.begin())
    assert (browser.left_for, browser.response.status_code) == ("", 403)
    assert "Error code: client_disabled" in browser.text
    as_json = browser.session.get(grant.party.begin(), headers={"Accept": "application/json"}, timeout=10)
    assert (as_json.status_code, as_json.json()["error"]) == (403, "client_disabled")
    grant.assert_dead("invalid_client")
    assert "Suspended" in browser.open("/accounts/connected-apps/").text


def test_a_suspended_app_is_refused_in_the_middle_of_a_sign_in(
    service: Service, browser: Browser, person: Person, party: RelyingParty
) -> None:
    person.sign_in(browser.open(party.begin()))
    service.operator.do("suspend", client_id=party.app.client_id)
    browser.press("Allow")
    assert (browser.left_for, browser.response.status_code) == ("", 403)
    assert "Error code: client_disabled" in browser.text


def test_a_restored_app_needs_no_new_consent(service: Service, browser: Browser, grant: Grant) -> None:
    service.operator.do("suspend", client_id=grant.party.app.client_id)
    service.operator.do("restore", client_id=grant.party.app.client_id)
    grant.assert_dead()
    tokens = grant.party.finish(browser.open(grant.party.begin()).left_for)
    assert grant.party.userinfo(tokens["access_token"]).status_code == 200


def test_a_banned_person_is_out_and_their_tokens_are_dead(
    service: Service, browser: Browser, person: Person, grant: Grant
) -> None:
    service.operator.do("ban", username=person.username)
    grant.assert_dead()
    assert grant.party.introspect(grant.tokens["refresh_token"]) == {"active": False}
    person.sign_in(browser.open(grant.party.begin()))
    assert browser.left_for == ""
    assert browser.open("/accounts/connected-apps/").heading == "Sign in"


def test_a_person_who_signs_out_keeps_their_apps(browser: Browser, person: Person, grant: Grant) -> None:
    browser.open("/api/auth/oauth2/end-session").press("Sign out")
    assert browser.open(grant.party.begin()).heading == f"Sign in to continue to {grant.party.app.name}"
    assert grant.party.refresh(grant.tokens["refresh_token"])["token_type"] == "Bearer"
    assert grant.party.finish(person.sign_in(browser).left_for)["token_type"] == "Bearer"


def test_a_retried_refresh_is_refused_and_ends_nothing(grant: Grant) -> None:
    fresh = grant.party.refresh(grant.tokens["refresh_token"])
    assert error_of(lambda: grant.party.refresh(grant.tokens["refresh_token"])) == "invalid_grant"
    assert grant.party.userinfo(grant.tokens["access_token"]).status_code == 200
    assert grant.party.refresh(fresh["refresh_token"])["token_type"] == "Bearer"


def test_a_refresh_narrows_one_access_token_alone(grant: Grant) -> None:
    narrow = dict(
        grant.party.session.refresh_token(
            grant.party.metadata["token_endpoint"], refresh_token=grant.tokens["refresh_token"], scope="openid"
        )
    )
    assert narrow["scope"] == "openid"
    assert set(grant.party.userinfo(narrow["access_token"]).json()) == {"sub"}
    assert grant.party.refresh(narrow["refresh_token"])["scope"] == grant.tokens["scope"]


def test_of_ten_refreshes_at_once_one_wins(grant: Grant) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": grant.tokens["refresh_token"]}
    auth = (grant.party.app.client_id, grant.party.app.client_secret)
    url = grant.party.metadata["token_endpoint"]
    answers = threads.together(10, lambda _: requests.post(url, data=form, auth=auth, timeout=TIMEOUT))
    won = [answer for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert [answer.json()["error"] for answer in answers if answer not in won] == ["invalid_grant"] * 9
    assert grant.party.refresh(won[0].json()["refresh_token"])["token_type"] == "Bearer"
