"""Linking a scrobbler account: token, signature, name; and what fails."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import Settings

from accounts.linking import account_links, link_flow, scrobbler
from accounts.linking.scrobbler import Refused
from accounts.models import LinkedAccount, User
from tests.accounts import linking_pages, scripted
from tests.accounts.linking_pages import LINK_SCROBBLER, PAGE, SCROBBLER_CALLBACK, SITE, Answer, events, linked, said
from tests.accounts.scripted import BROKEN, Scripted, of_json
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db
SCROBBLER = LinkedAccount.Kind.SCROBBLER
KEY, SECRET, TOKEN = "the-api-key", "the-shared-secret", "the-token-of-the-person"
API = "/2.0/"

NOT_ALLOWED = "You did not allow it at the music scrobbler. Nothing was changed."
NOT_ANSWERING = "The music scrobbler does not respond correctly at the moment. Nothing was changed; try again later."
TOO_LATE = "This took too long, or was started in another browser. Nothing was changed; try again."


@pytest.fixture
def service(settings: Settings) -> Iterator[Scripted]:
    """The token belongs to the account AdaListens."""
    with scripted.running() as service:
        settings.SCROBBLER = replace(
            settings.SCROBBLER,
            api_key=KEY,
            secret=SECRET,
            api_url=f"{service.url}{API}",
            authorize_url="https://scrobbler.example/api/auth/",
        )
        service.replies[API] = of_json({"session": {"subscriber": 0, "name": "AdaListens", "key": "a-session-key"}})
        yield service


@pytest.fixture
def user(db: None) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def browser(user: User, service: Scripted) -> Client:
    return linking_pages.signed_in(user)


def _begun(browser: Client) -> str:
    """The path that the service sends the person back to."""
    return linking_pages.query_of(browser.post(LINK_SCROBBLER))["cb"].removeprefix(SITE)


def _link(browser: Client, token: str = TOKEN) -> Answer:
    return browser.get(_begun(browser), {"token": token})


def test_the_button_leads_to_the_service_with_a_way_back(browser: Client) -> None:
    answer = browser.post(LINK_SCROBBLER)
    assert linking_pages.place_of(answer) == "https://scrobbler.example/api/auth/"
    query = linking_pages.query_of(answer)
    state = query.pop("cb").removeprefix(f"{SITE}{SCROBBLER_CALLBACK}").rstrip("/")
    assert (query, len(state)) == ({"api_key": KEY}, 32)


def test_what_comes_back_is_linked(browser: Client, user: User, service: Scripted) -> None:
    assert said(browser, _link(browser)) == "Your music scrobbler account AdaListens is linked."
    assert linked(user) == [("SCROBBLER", "adalistens", "AdaListens", "")]
    assert events(user) == [("linked_account:linked", "SCROBBLER", "Ada")]
    (asked,) = service.asked
    text = f"api_key{KEY}methodauth.getSessiontoken{TOKEN}{SECRET}"
    assert (asked.method, asked.path) == ("POST", API)
    assert asked.form == {
        "method": "auth.getSession",
        "api_key": KEY,
        "token": TOKEN,
        "api_sig": hashlib.md5(text.encode()).hexdigest(),  # noqa: S324 - as the protocol demands
        "format": "json",
    }


def test_the_session_key_is_kept_nowhere(browser: Client) -> None:
    _link(browser)
    sessions = json.dumps([session.get_decoded() for session in Session.objects.all()])
    assert "a-session-key" not in sessions
    assert TOKEN not in sessions


@pytest.mark.parametrize(
    ("name", "found"),
    [("Ada\x00L", ("adal", "AdaL")), ("ÉA", ("éa", "ÉA")), ("a" * 64, ("a" * 64, "a" * 64)), (" x ", ("x", "x"))],
)
def test_a_name_loses_what_cannot_be_kept(name: str, found: tuple[str, str]) -> None:
    identity = scrobbler._identity({"session": {"name": name}})
    assert (identity.external_id, identity.name) == found


@pytest.mark.parametrize("name", [None, " ", "\x00", 5, {"name": "ada"}, "a" * 65, "İ" * 33])
def test_a_name_that_is_none_is_refused(name: object) -> None:
    with pytest.raises(Refused) as refusal:
        scrobbler._identity({"session": {"name": name}})
    assert str(refusal.value) == link_flow.NOT_ANSWERING


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (14, link_flow.NOT_ALLOWED),
        (15, link_flow.ASKED_TOO_LATE),
        (4, link_flow.ASKED_TOO_LATE),
        *((code, link_flow.NOT_ANSWERING) for code in (8, 0, "14", [14], 10**400)),
    ],
)
def test_an_error_of_the_protocol_is_reported(code: object, text: str) -> None:
    with pytest.raises(Refused) as refusal:
        scrobbler._identity({"error": code, "message": "<b>", "session": {"name": "Ada"}})
    assert str(refusal.value) == text


@pytest.mark.parametrize("status", [200, 403])
def test_an_error_changes_nothing(browser: Client, user: User, service: Scripted, status: int) -> None:
    service.replies[API] = of_json({"error": 14, "session": {"name": "Ada"}}, status)
    assert said(browser, _link(browser)) == NOT_ALLOWED
    assert linked(user) == []


@pytest.mark.parametrize("name", ["down", "half of it", "a list", "sent elsewhere"])
def test_an_outage_is_said_and_changes_nothing(browser: Client, user: User, service: Scripted, name: str) -> None:
    account_links.link(user=user, kind=SCROBBLER, external_id="earlier", name="Earlier", by=user)
    service.replies[API] = BROKEN[name]
    assert said(browser, _link(browser)) == NOT_ANSWERING
    assert linked(user) == [("SCROBBLER", "earlier", "Earlier", "")]


def test_nothing_secret_is_logged(browser: Client, service: Scripted, caplog: pytest.LogCaptureFixture) -> None:
    service.replies[API] = of_json({"error": 13, "message": TOKEN}, 403)
    _link(browser)
    assert [record.getMessage() for record in caplog.records] == ["The scrobbler gave no account to link: error 13"]


@pytest.mark.parametrize("token", ["", "a b", "\x01", "ä", "x" * 201])
def test_who_comes_back_without_a_token_has_not_allowed_it(browser: Client, service: Scripted, token: str) -> None:
    assert said(browser, _link(browser, token)) == NOT_ALLOWED
    assert service.asked == []


def test_a_state_counts_once(browser: Client, service: Scripted) -> None:
    path = _begun(browser)
    browser.get(path, {"token": TOKEN})
    browser.get(PAGE)
    service.asked.clear()
    assert said(browser, browser.get(path, {"token": TOKEN})) == TOO_LATE
    assert service.asked == []


def test_a_state_that_this_session_did_not_begin_is_refused(browser: Client, user: User, service: Scripted) -> None:
    _begun(browser)
    of_another_user = _begun(linking_pages.signed_in(UserFactory()))
    for path in (f"{SCROBBLER_CALLBACK}x/", of_another_user):
        assert said(browser, browser.get(path, {"token": TOKEN})) == TOO_LATE
    assert (linked(user), service.asked) == ([], [])


@pytest.mark.parametrize(("seconds", "count"), [(599, 1), (600, 0)])
def test_a_state_lives_ten_minutes(browser: Client, user: User, seconds: int, count: int) -> None:
    with time_machine.travel(timedelta(), tick=False) as clock:
        path = _begun(browser)
        clock.shift(seconds)
        browser.get(path, {"token": TOKEN})
    assert len(linked(user)) == count


def test_of_many_that_were_begun_the_last_five_count(browser: Client, user: User) -> None:
    paths = [_begun(browser) for _ in range(6)]
    assert said(browser, browser.get(paths[0], {"token": TOKEN})) == TOO_LATE
    assert said(browser, browser.get(paths[1], {"token": TOKEN})).endswith("is linked.")


def test_where_it_is_not_set_up_nothing_begins(browser: Client, user: User, settings: Settings) -> None:
    path = _begun(browser)
    settings.SCROBBLER = replace(settings.SCROBBLER, api_key="")
    text = "Accounts of the music scrobbler cannot be linked here."
    assert said(browser, browser.post(LINK_SCROBBLER)) == text
    assert said(browser, browser.get(path, {"token": TOKEN})) == text
    page = browser.get(PAGE)
    assert text in page.content.decode()
    assert "scrobbler.example" not in page["Content-Security-Policy"]


def test_the_button_is_a_post_with_a_token(user: User, service: Scripted) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert browser.post(LINK_SCROBBLER).status_code == 403
    assert browser.get(LINK_SCROBBLER)["Location"] == PAGE
    assert Client().post(f"{SCROBBLER_CALLBACK}x/").status_code == 405


def test_a_visitor_who_comes_back_is_asked_to_sign_in(service: Scripted) -> None:
    visitor = Client()
    answer = visitor.get(f"{SCROBBLER_CALLBACK}x/", {"token": TOKEN})
    assert said(visitor, answer, "/accounts/login/").endswith("Sign in to your account first.")
    assert service.asked == []
    assert visitor.post(LINK_SCROBBLER)["Location"] == f"/accounts/login/?next={LINK_SCROBBLER}"
