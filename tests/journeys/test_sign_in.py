"""Sign-ins of people at apps; an app loses its access and gets it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
import requests

from tests.journeys import people, post_office
from tests.journeys.browser import TIMEOUT, Browser
from tests.journeys.people import App, Person
from tests.journeys.relying_party import RelyingParty, error_of
from tests.journeys.services import Service
from tests.support import threads

pytestmark = pytest.mark.live
PartyOf = Callable[[App], RelyingParty]


@pytest.fixture
def approved(browser: Browser, person: Person, party: RelyingParty) -> RelyingParty:
    """`person` is signed in at `browser` and has allowed the app."""
    person.sign_in(browser.open(party.begin()))
    party.finish(browser.press("Allow").left_for)
    return party


def test_the_second_sign_in_asks_nothing(browser: Browser, person: Person, approved: RelyingParty) -> None:
    tokens = approved.finish(browser.open(approved.begin()).left_for)
    assert approved.claims(tokens["id_token"], nonce=approved.nonce)["sub"] == person.id


def test_a_silent_request_succeeds_after_consent(browser: Browser, person: Person, approved: RelyingParty) -> None:
    tokens = approved.finish(browser.open(approved.begin(prompt="none")).left_for)
    assert approved.userinfo(tokens["access_token"]).json()["sub"] == person.id


def test_a_silent_request_of_a_visitor_is_login_required(browser: Browser, party: RelyingParty) -> None:
    assert party.answer(browser.open(party.begin(prompt="none")).left_for)["error"] == "login_required"


def test_a_silent_request_before_consent_is_refused(browser: Browser, person: Person, party: RelyingParty) -> None:
    person.sign_in(browser.open(party.begin()))
    assert party.answer(browser.open(party.begin(prompt="none")).left_for)["error"] == "consent_required"


def test_cancel_brings_access_denied_to_the_app(browser: Browser, person: Person, party: RelyingParty) -> None:
    person.sign_in(browser.open(party.begin()))
    answer = party.answer(browser.press("Cancel").left_for)
    assert answer == {"error": "access_denied", "error_description": answer["error_description"]}
    assert browser.open(party.begin()).heading.startswith(f"{party.app.name} wants to use your")


def test_every_character_of_the_state_comes_back(browser: Browser, approved: RelyingParty) -> None:
    state = "a b+c%2B&d=é/?#\"'<>\\ \N{WAVING HAND SIGN}"
    approved.answer(browser.open(approved.begin(state=state)).left_for)
    assert approved.state == state


def test_more_scopes_are_asked_for_and_marked(browser: Browser, person: Person, party: RelyingParty) -> None:
    person.sign_in(browser.open(party.begin(scope="openid")))
    party.finish(browser.press("Allow").left_for)
    browser.open(party.begin(scope="openid identify"))
    assert "Sign in Already allowed" in browser.text
    assert "Basic profile New" in browser.text
    assert party.finish(browser.press("Allow").left_for)["scope"] == "openid identify"


def test_prompt_consent_asks_again(browser: Browser, approved: RelyingParty) -> None:
    browser.open(approved.begin(prompt="consent"))
    assert approved.finish(browser.press("Allow").left_for)["scope"] == " ".join(approved.app.scopes)


@pytest.mark.parametrize("wish", [{"prompt": "login"}, {"max_age": "0"}])
def test_an_app_can_have_the_password_asked_again(
    browser: Browser, person: Person, approved: RelyingParty, wish: dict[str, str]
) -> None:
    first = approved.claims(approved.finish(browser.open(approved.begin()).left_for)["id_token"], nonce=approved.nonce)
    browser.open(approved.begin(**wish))
    callback = browser.press("Confirm", password=person.password).left_for
    second = approved.claims(approved.finish(callback)["id_token"], nonce=approved.nonce)
    assert second["auth_time"] >= first["auth_time"]
    assert second["sub"] == first["sub"]


def test_a_wrong_password_can_be_mended(browser: Browser, person: Person, party: RelyingParty) -> None:
    browser.open(party.begin(login_hint=person.username))
    assert browser.page.forms[0].fields["login"] == person.username
    browser.press("Sign in", password="wrong-password")
    assert "is wrong" in browser.text
    browser.press("Sign in", login=person.email.upper(), password=person.password)
    assert party.finish(browser.press("Allow").left_for)["token_type"] == "Bearer"


def test_not_you_leads_back_to_the_same_request_as_another_person(
    service: Service, browser: Browser, person: Person, party: RelyingParty
) -> None:
    other = people.new_person(service.operator)
    person.sign_in(browser.open(party.begin()))
    assert f"Signed in as {person.username}" in browser.text
    other.sign_in(browser.press("Not you? Use another account"))
    assert f"Signed in as {other.username}" in browser.text
    tokens = party.finish(browser.press("Allow").left_for)
    assert party.claims(tokens["id_token"], nonce=party.nonce)["sub"] == other.id


def test_a_new_user_signs_up_on_the_way(service: Service, browser: Browser, party: RelyingParty) -> None:
    person = people.stranger()
    browser.open(party.begin()).follow("Create an account")
    browser.press("Sign up", email=person.email, username=person.username, password1=person.password)
    code = post_office.code_for(service.post_office, person.email)
    browser.press("Confirm", code=code)
    assert browser.heading.startswith(f"{party.app.name} wants to use your")
    tokens = party.finish(browser.press("Allow").left_for)
    assert party.userinfo(tokens["access_token"]).json()["preferred_username"] == person.username


def test_two_apps_wait_in_two_tabs(service: Service, browser: Browser, person: Person, party_of: PartyOf) -> None:
    first, second = (party_of(people.new_app(service.operator)) for _ in range(2))
    addresses = (first.begin(), second.begin())
    waiting = [browser.open(address).response.url for address in addresses]
    person.sign_in(browser.open(waiting[0]))
    first.finish(browser.press("Allow").left_for)
    browser.open(waiting[1])
    assert browser.heading.startswith(f"{second.app.name} wants to use your")
    second.finish(browser.press("Allow").left_for)


def test_a_native_app_is_reached_by_its_own_scheme(
    service: Service, browser: Browser, person: Person, party_of: PartyOf
) -> None:
    party = party_of(people.new_app(service.operator, redirect_urls=["org.example.journey:/signed-in"]))
    person.sign_in(browser.open(party.begin()))
    callback = browser.press("Allow").left_for
    assert callback.startswith("org.example.journey:/signed-in?code=")
    assert party.finish(callback)["token_type"] == "Bearer"


def test_the_port_of_127_0_0_1_may_change(
    service: Service, browser: Browser, person: Person, party_of: PartyOf
) -> None:
    party = party_of(people.new_app(service.operator, redirect_urls=["http://127.0.0.1:8000/callback"]))
    party.session.redirect_uri = "http://127.0.0.1:53682/callback"
    person.sign_in(browser.open(party.begin()))
    assert party.finish(browser.press("Allow").left_for)["token_type"] == "Bearer"


def test_a_head_request_makes_no_code(browser: Browser, approved: RelyingParty) -> None:
    response = browser.session.head(approved.begin(), allow_redirects=False, timeout=TIMEOUT)
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, POST")


def assert_is_complete(browser: Browser, heading: str) -> None:
    """The page has nothing inline, nothing of another site, and its assets exist."""
    assert browser.heading.startswith(heading)
    assert browser.page.xpath("//style | //*[@style] | //script[not(@src)][not(@type='application/json')]") == []
    for asset in browser.assets():
        assert asset.startswith(f"{browser.base_url}/"), asset
        assert requests.get(asset, timeout=TIMEOUT).status_code == 200, asset


def test_everything_that_the_pages_need_is_there(browser: Browser, person: Person, party: RelyingParty) -> None:
    assert_is_complete(browser.open(party.begin()), "Sign in")
    assert_is_complete(person.sign_in(browser), f"{party.app.name} wants to use your")
    party.finish(browser.press("Allow").left_for)
    assert_is_complete(browser.open("/accounts/connected-apps/"), "Connected apps")


def test_login_leads_to_no_foreign_site(browser: Browser, person: Person) -> None:
    for place in ("https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example/"):
        browser.session.cookies.clear()
        person.sign_in(browser.open(f"/accounts/login/?{urlencode({'next': place})}"))
        assert browser.left_for == ""
        assert browser.heading == f"Hello, {person.username}"


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
