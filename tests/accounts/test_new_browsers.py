"""The email about a sign-in from a new browser, and its link, which ends that session."""

from __future__ import annotations

import re
import smtplib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts import bans, notifications, users
from accounts.models import AuditEvent, User
from accounts.sign_up import new_browsers
from tests.accounts.test_sign_in import leave, sign_in
from tests.factories.accounts import PASSWORD, UserFactory
from tests.support.browser import Browser
from tests.support.second_factors import Passkey, code_of, with_app

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
SUBJECT = "Hearth: New sign-in to your account"
NEW_PASSWORD = "another battery of horses"
LOGIN, PASSKEY_LOGIN = "/accounts/login/", "/accounts/2fa/webauthn/login/"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime(2026, 3, 1, 12, 30, tzinfo=UTC), tick=False) as traveller:
        yield traveller


@pytest.fixture(autouse=True)
def sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test is one transaction, which never ends."""
    monkeypatch.setattr(notifications, "transaction", SimpleNamespace(on_commit=lambda send: send()))


@pytest.fixture
def ada() -> User:
    user: User = UserFactory(username="Ada", email="ada@example.org")
    return user


def path_in(mail: EmailMessage) -> str:
    (found,) = re.findall(r"^\S+/accounts/new-browser/\S+$", str(mail.body), re.MULTILINE)
    return urlsplit(str(found)).path


def by_password(user: User) -> Callable[[Browser], object]:
    return lambda browser: sign_in(user.username, browser=browser)


def by_passkey(user: User) -> Callable[[Browser], object]:
    passkey = Passkey(user)

    def sign_in_by_passkey(browser: Browser) -> None:
        answer = browser.client.get(PASSKEY_LOGIN, headers={"accept": "application/json"})
        form = next(form for form in browser.open(LOGIN).page.forms if form.get("action") == PASSKEY_LOGIN)
        credential = passkey.answer(answer.json()["request_options"]["publicKey"])
        browser.client.post(PASSKEY_LOGIN, {**dict(form.form_values()), "credential": credential})

    return sign_in_by_passkey


def by_code(user: User) -> Callable[[Browser], object]:
    secret = with_app(user)
    return lambda browser: sign_in(user.username, browser=browser).submit(code=code_of(secret))


@pytest.mark.parametrize("way", [by_password, by_passkey, by_code])
def test_the_first_sign_in_of_a_browser_is_mailed_and_later_ones_are_not(
    way: Callable[[User], Callable[[Browser], object]],
    ada: User,
    mailoutbox: list[EmailMessage],
    clock: time_machine.Traveller,
) -> None:
    sign_in_there, known = way(ada), Browser(HTTP_USER_AGENT=FIREFOX)
    for browser, mails in ((known, 1), (known, 1), (Browser(), 2)):
        sign_in_there(browser)
        assert browser.user() == ada
        assert [(mail.subject, mail.to) for mail in mailoutbox] == [(SUBJECT, ["ada@example.org"])] * mails
        leave(browser)
        clock.shift(timedelta(minutes=1))
    assert "\nTime: 1 March 2026, 12:30 UTC\nBrowser: Firefox 130 on Linux\n\n" in str(mailoutbox[0].body)
    assert mailoutbox[0].extra_headers["Auto-Submitted"] == "auto-generated"


def test_a_browser_stays_known_after_a_new_name_and_address(ada: User, mailoutbox: list[EmailMessage]) -> None:
    browser = sign_in("Ada")
    leave(browser)
    users.rename(user=ada, username="Countess", by=None)
    User.objects.filter(pk=ada.pk).update(email="countess@example.org")
    sign_in("Countess", browser=browser)
    assert len(mailoutbox) == 1


def test_the_browser_of_an_account_that_had_the_name_before_is_new(mailoutbox: list[EmailMessage]) -> None:
    first = UserFactory(username="Ada", email="first@example.org")
    browser = sign_in("Ada")
    leave(browser)
    users.rename(user=first, username="Eve", by=None)
    UserFactory(username="Ada", email="second@example.org")
    UserFactory(username=first.pk, email="third@example.org")
    sign_in("Ada", browser=browser)
    assert [mail.to for mail in mailoutbox] == [["first@example.org"], ["second@example.org"]]
    leave(browser)
    sign_in(first.pk, browser=browser)
    assert mailoutbox[2].to == ["third@example.org"]


def test_a_known_browser_costs_no_query_more_and_a_new_one_neither(ada: User, mailoutbox: list[EmailMessage]) -> None:
    counts = []
    browser = Browser()
    for _ in range(2):
        browser.open(LOGIN)
        form = {**dict(browser.form("password").form_values()), "login": "Ada", "password": PASSWORD}
        with CaptureQueriesContext(connection) as queries:
            browser.client.post(LOGIN, form)
        counts.append(len(queries))
        assert browser.user() == ada
        leave(browser)
    assert len(mailoutbox) == 1
    # Django's session gets a new key the first time: nothing else differs.
    assert counts[0] <= counts[1] + 1, counts


def test_no_word_of_a_program_is_in_the_email(ada: User, mailoutbox: list[EmailMessage]) -> None:
    sign_in("Ada", browser=Browser(HTTP_USER_AGENT="https://evil.example/reset Android"))
    body = str(mailoutbox[0].body)
    assert "evil" not in body
    assert "Browser: Unknown browser on Android\n" in body


def test_an_email_that_cannot_be_sent_does_not_stop_the_sign_in(
    ada: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise smtplib.SMTPServerDisconnected

    monkeypatch.setattr(EmailBackend, "send_messages", fail)
    assert sign_in("Ada").user() == ada
    assert "An email could not be sent." in caplog.text


def test_a_banned_user_gets_no_email(ada: User, mailoutbox: list[EmailMessage]) -> None:
    bans.ban(user=ada, by=None, reason="Spam")
    assert sign_in("Ada").user() is None
    assert mailoutbox == []


def test_the_user_turns_the_emails_off_and_on(ada: User, mailoutbox: list[EmailMessage]) -> None:
    browser = sign_in("Ada")
    for state, count in (("off", 1), ("on", 2)):
        browser.open("/accounts/sessions/").submit(emails=state)
        assert f"Emails about new browsers are {state}." in browser.text
        sign_in("Ada")
        assert len(mailoutbox) == count
    events = AuditEvent.objects.filter(verb="user:changed").order_by("pk").values_list("data", flat=True)
    assert [event["are_sent"] for event in events] == [False, True]


# --- The link ---------------------------------------------------------------------------------------------------------


def test_the_link_asks_first_and_ends_that_session_only(ada: User, mailoutbox: list[EmailMessage]) -> None:
    first, second, other = sign_in("Ada"), sign_in("Ada"), sign_in(UserFactory(username="Ben").username)
    path = path_in(mailoutbox[1])
    visitor = Browser().open(path)
    assert "Sign the browser out?" in visitor.text
    assert "sessionid" not in visitor.client.cookies
    assert second.user() == ada
    for _ in range(2):  # once is enough
        answer = visitor.client.post(path)
        assert (answer.status_code, "The browser is signed out" in answer.content.decode()) == (200, True)
        assert [str(browser.user()) for browser in (first, second, other)] == ["Ada", "None", "Ben"]
    event = AuditEvent.objects.get(verb="user:session_ended")
    assert (event.actor, event.object_id, event.data) == (ada, ada.pk, {"by_mail": True})
    for count in (4, 4):
        sign_in("Ada", browser=second)  # mailed again, once
        assert len(mailoutbox) == count
        leave(second)


def test_the_link_ends_the_session_after_a_new_password_gave_it_another_key(
    ada: User, mailoutbox: list[EmailMessage]
) -> None:
    intruder = sign_in("Ada")
    intruder.open("/accounts/password/change/")
    intruder.submit(oldpassword=PASSWORD, password1=NEW_PASSWORD, password2=NEW_PASSWORD)
    assert intruder.user() is not None
    Client().post(path_in(mailoutbox[0]))
    assert intruder.user() is None


def test_the_browser_that_is_signed_out_may_open_the_link_itself(ada: User, mailoutbox: list[EmailMessage]) -> None:
    browser = sign_in("Ada")
    assert browser.client.post(path_in(mailoutbox[0])).status_code == 200
    assert browser.user() is None


def _changed(path: str) -> str:
    return f"{path[:-2]}{'A' if path[-2] != 'A' else 'B'}/"


@pytest.mark.parametrize(
    "spoil",
    [_changed, lambda _: "/accounts/new-browser/x/", lambda path: path.replace("W", "w", 1)],
    ids=["signature", "no token", "content"],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_wrong_links_get_one_answer(
    spoil: Callable[[str], str], method: str, ada: User, mailoutbox: list[EmailMessage]
) -> None:
    browser = sign_in("Ada")
    answer = getattr(Client(), method)(spoil(path_in(mailoutbox[0])))
    assert answer.status_code == 404
    assert answer.content == Client().get("/accounts/new-browser/wrong/").content
    assert browser.user() == ada


def test_a_link_works_as_long_as_a_session_can(
    ada: User, mailoutbox: list[EmailMessage], clock: time_machine.Traveller, settings: Settings
) -> None:
    sign_in("Ada")
    path = path_in(mailoutbox[0])
    assert new_browsers.LINK_LIFETIME == timedelta(seconds=settings.SESSION_COOKIE_AGE) == timedelta(days=14)
    for seconds, status in ((14 * 86_400, 200), (1, 404)):
        clock.shift(timedelta(seconds=seconds))
        assert Client().get(path).status_code == status


def test_links_are_tried_20_times_a_minute_from_one_address() -> None:
    statuses = [Client().post("/accounts/new-browser/x/").status_code for _ in range(21)]
    assert statuses == [404] * 20 + [429]


# --- The country ------------------------------------------------------------------------------------------------------


def _text(value: str) -> bytes:
    return bytes([0x40 | len(value)]) + value.encode()


def _map(**pairs: bytes) -> bytes:
    return bytes([0xE0 | len(pairs)]) + b"".join(_text(name) + value for name, value in pairs.items())


def _number(value: int) -> bytes:
    return b"\xa2" + value.to_bytes(2, "big")


def country_database(directory: Path) -> Path:
    """A database in MaxMind's format: the lower half of IPv4 is in Testland, the upper half nowhere."""
    tree = b"\x00\x00\x11" + b"\x00\x00\x01"  # the first record of the data; no record
    data = _map(country=_map(iso_code=_text("TL"), names=_map(en=_text("Testland"))))
    about = _map(
        binary_format_major_version=_number(2),
        binary_format_minor_version=_number(0),
        build_epoch=b"\x08\x02" + (1_700_000_000).to_bytes(8, "big"),
        database_type=_text("Test-Country"),
        description=_map(en=_text("Test")),
        ip_version=_number(4),
        languages=b"\x01\x04" + _text("en"),
        node_count=b"\xc4" + (1).to_bytes(4, "big"),
        record_size=_number(24),
    )
    path = directory / "countries.mmdb"
    path.write_bytes(tree + bytes(16) + data + b"\xab\xcd\xefMaxMind.com" + about)
    return path


@pytest.mark.parametrize(
    ("address", "line"),
    [("10.0.0.1", "Country of the network: Testland\n"), ("192.0.2.1", None), ("2001:db8::1", None)],
)
def test_the_country_of_the_network_is_named_where_a_database_knows_it(
    address: str, line: str | None, ada: User, settings: Settings, tmp_path: Path, mailoutbox: list[EmailMessage]
) -> None:
    settings.COUNTRY_DATABASE = str(country_database(tmp_path))
    assert sign_in("Ada", browser=Browser(REMOTE_ADDR=address)).user() == ada
    assert line is None or line in str(mailoutbox[0].body)
    assert ("Country" in str(mailoutbox[0].body)) is (line is not None)


@pytest.mark.parametrize("content", [None, b"", b"no database"])
def test_a_database_that_cannot_be_read_stops_nothing(
    content: Any, ada: User, settings: Settings, tmp_path: Path, mailoutbox: list[EmailMessage]
) -> None:
    path = tmp_path / "countries.mmdb"
    if content is not None:
        path.write_bytes(content)
    settings.COUNTRY_DATABASE = str(path)
    assert sign_in("Ada").user() == ada
    assert "Country" not in str(mailoutbox[0].body)
