"""Every email: its headers, and how many an address gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import Settings

from accounts import mail, notifications
from config.management.commands import report_jobs
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable
from tests.factories.accounts import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db

ADDRESS = "ada@example.org"
RESET = "/accounts/password/reset/"


@pytest.fixture
def clock(settings: Settings) -> Iterator[time_machine.Traveller]:
    """Limits are counted in the process: Redis has a clock of its own."""
    settings.LIMIT_STORE = "tests.support.movable_limits.MovableLimits"
    limits._store.cache_clear()
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as traveller:
        yield traveller


def asks_for_a_password(email: str = ADDRESS) -> tuple[int, str]:
    answer = Client().post(RESET, {"email": email})
    return answer.status_code, answer["Location"]


def changes_the_password(client: Client, new: str) -> None:
    data = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert client.post("/accounts/password/change/", data).status_code == 302


@pytest.mark.parametrize("has_account", [True, False])
def test_an_address_gets_5_mails_an_hour_and_the_page_says_the_same_with_the_sixth(
    clock: time_machine.Traveller, mailoutbox: list[EmailMessage], has_account: bool
) -> None:
    if has_account:
        UserFactory(username="Ada", email=ADDRESS)
    answers = []
    for email in (ADDRESS, "ADA@example.org", ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS):
        clock.shift(timedelta(minutes=2))
        answers.append(asks_for_a_password(email))
    assert set(answers) == {(302, "/accounts/password/reset/done/")}
    assert len(mailoutbox) == 5
    asks_for_a_password("ben@example.org")
    assert len(mailoutbox) == 6
    clock.shift(timedelta(minutes=48))
    asks_for_a_password()
    assert [letter.to for letter in mailoutbox[6:]] == [[ADDRESS]]


def test_all_kinds_of_mail_count_together(clock: time_machine.Traveller, mailoutbox: list[EmailMessage]) -> None:
    for number in range(3):
        clock.shift(timedelta(minutes=1))
        asks_for_a_password()
        client = Client()
        sign_up = {"username": f"Ada{number}", "email": ADDRESS, "password1": PASSWORD}
        assert client.post("/accounts/signup/", sign_up)["Location"] == "/accounts/confirm-email/"
    assert len(mailoutbox) == 5


def test_an_address_gets_20_mails_a_day(clock: time_machine.Traveller, mailoutbox: list[EmailMessage]) -> None:
    for _ in range(6):
        for _ in range(5):
            asks_for_a_password()
            clock.shift(timedelta(minutes=2))
        clock.shift(timedelta(minutes=51))
    assert len(mailoutbox) == 20
    clock.shift(timedelta(hours=18))
    asks_for_a_password()
    assert len(mailoutbox) == 21


def test_who_asks_for_fivemails_does_not_hide_a_change_of_the_password(
    clock: time_machine.Traveller, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    user = UserFactory(username="Ada", email=ADDRESS)
    for _ in range(6):
        clock.shift(timedelta(minutes=1))
        asks_for_a_password()
    client = Client()
    client.force_login(user)
    with django_capture_on_commit_callbacks(execute=True):
        changes_the_password(client, "a different horse battery")
    assert len(mailoutbox) == 6
    assert "password" in mailoutbox[5].subject.lower()
    assert "password/reset/key" not in mailoutbox[5].body


def notice() -> bool:
    return mail.send(EmailMessage("Subject", "Text", to=[ADDRESS]), is_notice=True)


def test_notices_over_the_limit_have_five_places_of_their_own(clock: time_machine.Traveller) -> None:
    assert [notice() for _ in range(11)] == [True] * 10 + [False]
    clock.shift(timedelta(hours=1))
    assert notice()


@pytest.mark.parametrize(
    "spellings",
    [
        [
            ADDRESS,
            "ADA@example.org",
            "ada@e\uff58ample.org",
            "ada@ex\u00adample.org",
            '"ada"@example.org',
            '"a\\da"@example.org',
        ],
        ["ada@bücher.example", "ada@xn--bcher-kva.example"],
    ],
)
def test_all_spellings_of_an_address_count_together(spellings: list[str]) -> None:
    sent = [mail.send(EmailMessage("Subject", "Text", to=[address]), is_notice=False) for address in spellings * 5]
    assert sent == [True] * 5 + [False] * (len(sent) - 5)


@pytest.mark.parametrize("address", [ADDRESS, "ada@bücher.de", "ada@xn--strae-oqd.example", "ada@[127.0.0.1]"])
def test_an_address_that_is_written_as_mail_is_sent_to_it_is_taken(address: str) -> None:
    mail.check_spelling(address)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ('"ada"@example.org', "Write the address without quotation marks."),
        ("ada@e\uff58ample.org", "Mail to this domain goes to example.org."),
        ("ada@ex\u00adample.org", "Mail to this domain goes to example.org."),
        ("ada@straße.example", "Mail to this domain goes to strasse.example."),
        (f"ada@{'ü' * 63}.example", "Enter a valid email address."),
    ],
)
def test_another_spelling_of_an_address_is_refused_whether_or_not_it_has_an_account(
    address: str, sentence: str, mailoutbox: list[EmailMessage]
) -> None:
    with pytest.raises(ValidationError, match=re.escape(sentence)):
        mail.check_spelling(address)
    before = Client().post(RESET, {"email": address})
    UserFactory(email=address)
    answer = Client().post(RESET, {"email": address})
    assert sentence in answer.context["form"].errors["email"][0]
    assert (answer.status_code, answer.context["form"].errors) == (200, before.context["form"].errors)
    assert mailoutbox == []


def test_an_account_adds_no_address_in_another_spelling(client: Client, mailoutbox: list[EmailMessage]) -> None:
    client.force_login(UserFactory())
    answer = client.post("/accounts/email/", {"action_add": "", "email": "ada@straße.example"})
    assert "Mail to this domain goes to strasse.example." in answer.content.decode()
    assert mailoutbox == []


def test_an_address_over_the_limit_holds_no_mail_back_from_others(
    clock: time_machine.Traveller, mailoutbox: list[EmailMessage]
) -> None:
    assert [notice() for _ in range(10)] == [True] * 10
    assert mail.send(EmailMessage("Subject", "Text", to=[ADDRESS, "ben@example.org"]), is_notice=True)
    assert mailoutbox[-1].to == ["ben@example.org"]


def test_without_the_store_of_limits_notices_are_sent_and_other_mail_is_not(
    monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage]
) -> None:
    def away(*windows: Any) -> int:
        raise LimitsUnavailable

    monkeypatch.setattr(limits, "hit", away)
    assert notice()
    with pytest.raises(LimitsUnavailable):
        mail.send(EmailMessage("Subject", "Text", to=[ADDRESS]), is_notice=False)
    assert len(mailoutbox) == 1


def letter_to_an_owner() -> None:
    user = UserFactory(email=ADDRESS)
    notifications.send_after_commit(to=user, subject="A", template="dashboard/letters/deletion_stopped.txt", context={})


def report_about_jobs() -> None:
    report_jobs._send(report_jobs.Reported([], []), [ADDRESS], datetime.now(tz=UTC))


@pytest.mark.parametrize("send", [asks_for_a_password, letter_to_an_owner, report_about_jobs])
def test_every_mail_says_that_it_is_automatic_and_is_named_by_the_sites_host(
    send: Callable[[], None],
    settings: Settings,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.BASE_URL = "https://id.example.org"
    with django_capture_on_commit_callbacks(execute=True):
        send()
    [letter] = mailoutbox
    headers = letter.message()
    assert headers["Auto-Submitted"] == "auto-generated"
    assert re.fullmatch(r"<[^@>]+@id\.example\.org>", headers["Message-ID"])
