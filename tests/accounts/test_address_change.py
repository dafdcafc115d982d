"""Another address for a sign-up: the same for addresses with and without an account, and the earlier code is void."""

from datetime import timedelta

import pytest
import time_machine
from allauth.account.internal.flows.email_verification_by_code import EMAIL_VERIFICATION_CODE_SESSION_KEY as STATE
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone

from accounts.models import User
from tests.accounts.test_sign_up import code_in, sign_up
from tests.factories.accounts import PASSWORD, UserFactory
from tests.support.browser import Browser

CODE, CHANGE = "/accounts/confirm-email/", "/accounts/confirm-email/change/"
FIRST = {"free": "ada@example.org", "known": "grace@example.org"}
NEXT = {"free": "ada@home.example", "known": "joan@example.org"}
every_first = pytest.mark.parametrize("first", ["free", "known"])


@pytest.fixture(autouse=True)
def others(db: None) -> None:
    UserFactory(username="Grace", email=FIRST["known"])
    UserFactory(username="Joan", email=NEXT["known"])


def changed(browser: Browser, email: str) -> Browser:
    return browser.open(CHANGE).submit(email=email)


def shown(browser: Browser) -> str:
    """The page without what differs by itself: addresses."""
    text = browser.text
    for address in (*FIRST.values(), *NEXT.values(), "other@home.example", "fresh@home.example"):
        text = text.replace(address, "ADDRESS")
    return text


@every_first
@pytest.mark.parametrize("following", ["free", "known"])
def test_every_change_looks_the_same(first: str, following: str, mailoutbox: list[EmailMessage]) -> None:
    other = sign_up(email="other@home.example", username="Other")
    browser = sign_up(email=FIRST[first])
    assert shown(browser.open(CODE)) == shown(other.open(CODE))
    assert "Wrong address?" in browser.text
    assert shown(browser.open(CHANGE)) == shown(other.open(CHANGE))
    changed(other, "fresh@home.example")
    changed(browser, NEXT[following])
    assert browser.response.redirect_chain == other.response.redirect_chain == [(CODE, 302)]
    assert shown(browser) == shown(other)
    assert mailoutbox[-1].to == [NEXT[following]]
    assert User.objects.filter(username__in=["Grace", "Joan"], email__in=[FIRST["known"], NEXT["known"]]).count() == 2


@every_first
def test_the_new_address_gets_a_code_that_finishes_the_sign_up(first: str, mailoutbox: list[EmailMessage]) -> None:
    browser = changed(sign_up(email=FIRST[first]), NEXT["free"])
    browser.submit(code=code_in(mailoutbox[-1]))
    user = User.objects.get(username="Ada")
    assert browser.user() == user
    assert user.email == NEXT["free"]
    assert user.check_password(PASSWORD)
    assert list(EmailAddress.objects.filter(user=user).values_list("email", "verified", "primary")) == [
        (NEXT["free"], True, True)
    ]
    assert STATE not in browser.client.session


def test_after_a_typing_error_the_first_address_is_still_ones_own(mailoutbox: list[EmailMessage]) -> None:
    browser = changed(sign_up(), NEXT["known"])
    with time_machine.travel(timezone.now() + timedelta(seconds=20)):  # an address gets a code in ten seconds
        changed(browser, FIRST["free"])
    assert mailoutbox[-1].to == [FIRST["free"]]
    browser.submit(code=code_in(mailoutbox[-1]))
    user = browser.user()
    assert user is not None
    assert list(EmailAddress.objects.filter(user=user).values_list("email", "verified")) == [(FIRST["free"], True)]


def test_the_earlier_code_is_void(mailoutbox: list[EmailMessage]) -> None:
    browser = changed(sign_up(), NEXT["free"])
    browser.submit(code=code_in(mailoutbox[0]))
    assert browser.user() is None
    assert not EmailAddress.objects.filter(user__username="Ada", verified=True).exists()


@every_first
def test_an_address_may_be_changed_twice(first: str, mailoutbox: list[EmailMessage]) -> None:
    browser = sign_up(email=FIRST[first])
    changed(changed(browser, NEXT["free"]), NEXT["known"])
    assert "Wrong address?" not in browser.text
    sent = len(mailoutbox)
    browser.client.handler.enforce_csrf_checks = False
    browser.client.post(CHANGE, {"email": "third@home.example"})
    assert len(mailoutbox) == sent
    assert browser.client.session[STATE]["email"] == NEXT["known"]


@every_first
def test_a_change_gives_no_more_tries_and_no_more_time(first: str) -> None:
    browser = sign_up(email=FIRST[first])
    began_at = browser.client.session[STATE]["at"]
    for _ in range(2):
        browser.submit(code="ZZZZZZ")
    changed(browser, NEXT["free"])
    assert browser.client.session[STATE]["at"] == began_at
    browser.submit(code="ZZZZZZ")
    assert browser.response.request["PATH_INFO"] == "/accounts/login/"


@pytest.mark.parametrize(
    ("email", "message"),
    [
        ("", "This field is required."),
        ("nobody", "Enter a valid email address."),
        ('"ada"@home.example', "Write the address without quotation marks."),
        (FIRST["free"], "The new value must be different from the current one."),
    ],
)
def test_what_is_refused_is_explained(email: str, message: str, mailoutbox: list[EmailMessage]) -> None:
    browser = changed(sign_up(), email)
    assert browser.errors() == [message]
    assert len(mailoutbox) == 1


def test_a_username_that_was_taken_meanwhile_is_explained() -> None:
    browser = sign_up(email=FIRST["known"])
    UserFactory(username="ada")
    changed(browser, NEXT["free"])
    assert "Your username has been taken in the meantime." in browser.text
    assert not User.objects.filter(email=NEXT["free"]).exists()


def test_only_a_sign_up_that_waits_for_its_code_can_change_its_address(mailoutbox: list[EmailMessage]) -> None:
    assert Client().get(CHANGE).headers["Location"] == CODE
    browser = sign_up()
    browser.submit(code=code_in(mailoutbox[0]))
    assert browser.client.get(CHANGE).headers["Location"] == CODE
    browser.client.handler.enforce_csrf_checks = False
    browser.client.post(CHANGE, {"email": NEXT["free"]})
    assert User.objects.get(username="Ada").email == FIRST["free"]


def test_changes_count_as_sign_ups_from_one_address() -> None:
    browser = sign_up()
    browser.client.handler.enforce_csrf_checks = False
    statuses = [browser.client.post(CHANGE, {"email": ""}).status_code for _ in range(20)]
    assert statuses == [200] * 19 + [429]


def test_the_destination_after_the_sign_up_is_kept(mailoutbox: list[EmailMessage]) -> None:
    browser = Browser().open("/accounts/signup/?next=/docs")
    browser.submit(username="Ada", email=FIRST["known"], password1=PASSWORD)
    browser.open(f"{CHANGE}?next=/docs").submit(email=NEXT["free"])
    assert browser.response.redirect_chain == [(f"{CODE}?next=%2Fdocs", 302)]
    browser.submit(code=code_in(mailoutbox[-1]))
    assert browser.response.request["PATH_INFO"] == "/docs"


@every_first
def test_too_many_mails_to_the_new_address_look_the_same(first: str) -> None:
    """The new address is free again, and has just been mailed. Nothing is changed, and the sign-up goes on."""
    other = changed(sign_up(email="other@home.example", username="Bea"), NEXT["free"])
    changed(other, "fresh@home.example")
    browser = sign_up(email=FIRST[first]).open(CHANGE)
    before = dict(browser.client.session[STATE])
    assert browser.submit(email=NEXT["free"]).response.status_code == 429
    assert browser.client.session[STATE] == before
    assert not User.objects.filter(email=NEXT["free"]).exists()
