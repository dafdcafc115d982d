"""The page of linked accounts: what it shows, where its forms may lead, and who is asked for a password first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from lxml import html
from pytest_django import Settings

from accounts.models import LinkedAccount, User
from tests.accounts import linking_pages
from tests.accounts.linking_pages import (
    LINK_CHAT,
    LINK_SCROBBLER,
    PAGE,
    REAUTHENTICATE,
    Answer,
    events,
    linked,
    place_of,
    said,
)
from tests.factories.accounts import PASSWORD, LinkedAccountFactory, UserFactory
from tests.pages.markup import problems_of

CHAT, SCROBBLER = LinkedAccount.Kind.CHAT, LinkedAccount.Kind.SCROBBLER
PLACES = {LINK_CHAT: "https://chat.example", LINK_SCROBBLER: "https://scrobbler.example:8443"}
UNLINK_CHAT, UNLINK_SCROBBLER = f"{PAGE}chat/unlink/", f"{PAGE}scrobbler/unlink/"


@pytest.fixture
def user(db: None, settings: Settings) -> User:
    settings.CHAT = replace(
        settings.CHAT, oauth_client_id="1", oauth_authorize_url=f"{PLACES[LINK_CHAT]}/oauth2/authorize"
    )
    settings.SCROBBLER = replace(settings.SCROBBLER, api_key="x", authorize_url=f"{PLACES[LINK_SCROBBLER]}/api/auth/")
    return UserFactory(username="Ada")


@pytest.fixture
def both(user: User) -> None:
    linked_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    LinkedAccountFactory(user=user, external_id="80351110224678912", name="<b>ada", linked_at=linked_at)
    LinkedAccountFactory(user=user, kind=SCROBBLER, external_id="adalistens", name="AdaListens", linked_at=linked_at)


def _rows(answer: Answer) -> list[str]:
    page: Any = html.document_fromstring(answer.content.decode())  # lxml's types know no classes
    return [" ".join(str(row.text_content()).split()) for row in page.find_class("row")]


def _forms(answer: Answer) -> list[tuple[str, str]]:
    page: Any = html.document_fromstring(answer.content.decode())  # lxml's types know no forms
    return [(form.method, form.action) for form in page.forms if form.action != "/accounts/logout/"]


def _form_action(answer: Answer) -> list[str]:
    policy: dict[str, str] = dict(part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; "))
    return policy["form-action"].split()


def test_what_is_not_linked_can_be_linked(user: User) -> None:
    page = linking_pages.signed_in(user).get(PAGE)
    assert _forms(page) == [("POST", LINK_CHAT), ("POST", LINK_SCROBBLER)]
    assert problems_of(page) == []


def test_what_is_linked_is_shown_and_can_be_unlinked(user: User, both: None) -> None:
    page = linking_pages.signed_in(user).get(PAGE)
    about = "Your profile, lookups and apps stop showing this account. You can link it again."
    assert _rows(page) == [
        "Chat platform Linked Name <b>ada ID 80351110224678912 Linked on 1 March 2026 "
        f"Unlink the chat platform account {about} Unlink <b>ada",
        "Music scrobbler Linked Name AdaListens ID adalistens Linked on 1 March 2026 "
        f"Unlink the music scrobbler account {about} Unlink AdaListens",
    ]
    assert _forms(page) == [("POST", UNLINK_CHAT), ("POST", UNLINK_SCROBBLER)]
    assert problems_of(page) == []


def test_it_costs_one_query_beside_the_session(user: User, both: None) -> None:
    browser = linking_pages.signed_in(user)
    with CaptureQueriesContext(connection) as queries:
        browser.get(PAGE)
    asked = [query["sql"] for query in queries if "django_session" not in query["sql"]]
    assert len(asked) == 3  # the user, the linked accounts, the deletion that the frame would tell of


def test_its_forms_may_lead_to_the_two_services_and_those_of_other_pages_not(user: User) -> None:
    browser = linking_pages.signed_in(user)
    assert _form_action(browser.get(PAGE)) == ["'self'", *PLACES.values()]
    for path in ("/accounts/email/", "/accounts/connected-apps/", REAUTHENTICATE):
        assert _form_action(browser.get(path)) == ["'self'"]


@pytest.mark.parametrize("path", PLACES)
def test_linking_asks_for_the_password_first_and_then_goes_on(user: User, path: str) -> None:
    """That page's form leads to the service, so for that long its policy allows it, and no other's."""
    browser = linking_pages.signed_in(user, has_confirmed=False)
    asked = browser.post(path)
    assert place_of(asked) == REAUTHENTICATE
    assert _form_action(browser.get(asked["Location"])) == ["'self'", PLACES[path]]
    browser.post(path)
    assert _form_action(browser.get(asked["Location"])) == ["'self'", PLACES[path]]

    confirmed = browser.post(REAUTHENTICATE, {"password": PASSWORD, "next": path})
    assert place_of(confirmed).startswith(PLACES[path])
    assert _form_action(browser.get(REAUTHENTICATE)) == ["'self'"]


def test_the_apps_that_wait_for_a_sign_in_go_on_waiting(user: User) -> None:
    browser = linking_pages.signed_in(user, has_confirmed=False)
    session = browser.session
    session["waiting_form_actions"] = ["https://app.example"]
    session.save()
    asked = browser.post(LINK_CHAT)
    assert _form_action(browser.get(asked["Location"])) == ["'self'", "https://app.example", PLACES[LINK_CHAT]]
    browser.post(REAUTHENTICATE, {"password": PASSWORD, "next": LINK_CHAT})
    assert _form_action(browser.get(REAUTHENTICATE)) == ["'self'", "https://app.example"]


def test_unlinking_forgets_one_account_and_no_other(user: User, both: None) -> None:
    browser = linking_pages.signed_in(user)
    assert said(browser, browser.post(UNLINK_CHAT)) == "Your chat platform account is no longer linked."
    assert [row[0] for row in linked(user)] == ["SCROBBLER"]
    assert events(user) == [("linked_account:unlinked", "CHAT", "Ada")]
    browser.post(UNLINK_CHAT)
    assert len(events(user)) == 1


def test_unlinking_asks_for_the_password_first_too(user: User, both: None) -> None:
    browser = linking_pages.signed_in(user, has_confirmed=False)
    assert place_of(browser.post(UNLINK_SCROBBLER)) == REAUTHENTICATE
    assert len(linked(user)) == 2
    browser.post(REAUTHENTICATE, {"password": PASSWORD, "next": UNLINK_SCROBBLER})
    assert [row[0] for row in linked(user)] == ["CHAT"]


def test_only_a_post_with_a_token_unlinks(user: User, both: None) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert browser.get(UNLINK_CHAT)["Location"] == PAGE
    assert browser.post(UNLINK_CHAT).status_code == 403
    assert len(linked(user)) == 2


def test_a_user_cannot_unlink_accounts_of_others(user: User) -> None:
    other = LinkedAccountFactory()
    linking_pages.signed_in(user).post(UNLINK_CHAT)
    assert len(linked(other.user)) == 1


def test_a_kind_that_there_is_not_is_404(user: User) -> None:
    browser = linking_pages.signed_in(user)
    for slug in ("CHAT", "game", "chat%00"):
        assert browser.post(f"{PAGE}{slug}/unlink/").status_code == 404


def test_a_visitor_is_sent_to_the_login_page(user: User) -> None:
    for path in (PAGE, UNLINK_CHAT):
        assert Client().post(path)["Location"] == f"/accounts/login/?next={path}"
