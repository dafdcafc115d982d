"""Signing in with a password."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django import Settings

from accounts.sign_up import known_devices, waiting_apps
from tests.factories.accounts import PASSWORD, AliasFactory, UserFactory
from tests.support.browser import Browser
from tests.support.hasher import QuickArgon2PasswordHasher
from tests.support.second_factors import Passkey

pytestmark = pytest.mark.django_db

WRONG = "The username or the password is wrong."


def sign_in(login: str, password: str = PASSWORD, browser: Browser | None = None) -> Browser:
    return (browser or Browser()).open("/accounts/login/").submit(login=login, password=password)


@pytest.mark.parametrize("login", ["Ada", " aDA ", "ada@example.org", "Ada@Example.ORG"])
def test_a_user_signs_in_by_name_or_address_in_any_case(login: str) -> None:
    user = UserFactory(username="Ada", email="ada@example.org")
    assert sign_in(login).user() == user


@pytest.mark.parametrize(
    ("login", "password"),
    [
        ("Ada", "wrong horse"),
        ("Ada", PASSWORD + " "),
        ("ada@example.org", "wrong horse"),
        ("nobody", PASSWORD),
        ("\u0391da", PASSWORD),
    ],
)
def test_a_wrong_name_or_password_gets_one_and_the_same_error(login: str, password: str) -> None:
    UserFactory(username="Ada", email="ada@example.org")
    browser = sign_in(login, password)
    assert browser.response.status_code == 200
    assert browser.errors() == [WRONG if "@" not in login else WRONG.replace("username", "email address")]
    assert browser.user() is None


def test_an_alias_does_not_sign_in() -> None:
    AliasFactory(name="Countess", user=UserFactory(username="Ada"))
    assert sign_in("Countess").user() is None


def test_the_sixth_wrong_password_for_a_name_is_refused_and_so_is_the_right_one_for_5_minutes() -> None:
    user = UserFactory(username="Ada")
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        for _ in range(5):
            assert sign_in("Ada", "wrong horse").errors() == [WRONG]
        assert sign_in("ada").errors() == ["Too many failed sign-ins. Try again later."]
        clock.shift(timedelta(seconds=301))
        assert sign_in("Ada").user() == user


LOCKED = ["Too many failed sign-ins. Try again later."]


def fails(login: str, address: str, browser: Browser | None = None) -> list[str]:
    browser = browser or Browser(REMOTE_ADDR=address)
    return sign_in(login, "wrong horse", browser).errors()


def leave(browser: Browser) -> None:
    """Sign out; other cookies stay."""
    del browser.client.cookies["sessionid"]


def test_wrong_passwords_lock_a_name_for_their_own_network_only() -> None:
    user = UserFactory(username="Ada")
    assert [fails("Ada", f"192.0.2.{number}") for number in range(6)] == [[WRONG]] * 5 + [LOCKED]
    assert sign_in("Ada", browser=Browser(REMOTE_ADDR="192.0.2.99")).errors() == LOCKED
    assert sign_in("Ada", browser=Browser(REMOTE_ADDR="198.51.100.1")).user() == user


def test_one_network_cannot_lock_a_name_for_others(settings: Settings) -> None:
    most, window, _ = settings.ACCOUNT_RATE_LIMITS["login_failed_anywhere"].split("/")
    assert (int(most) > 5 * 60 / 5, window) == (True, "h")


def test_many_wrong_passwords_of_an_hour_lock_a_name_everywhere_but_on_its_own_devices(settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed_anywhere": "50/h/key"}
    user, other = UserFactory(username="Ada", email="ada@example.org"), UserFactory(username="Ben")
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        own, others = sign_in("Ada", browser=Browser(REMOTE_ADDR="192.0.2.1")), sign_in("Ben")
        for browser in (own, others):
            leave(browser)
        for number in range(51):
            expected = [LOCKED, LOCKED] if number == 50 else [[WRONG], [WRONG.replace("username", "email address")]]
            assert [fails(login, f"10.0.{number}.1") for login in ("Ada", "ada@example.org")] == expected
        for login in ("ADA", "Ada@example.org"):
            assert sign_in(login, browser=Browser(REMOTE_ADDR="198.51.100.1")).errors() == LOCKED
            assert sign_in(login, browser=others).errors() == LOCKED
            assert sign_in(login, browser=own).user() == user
            leave(own)
        assert sign_in("Ben", browser=own).user() == other
        leave(own)
        assert sign_in("Ada", browser=own).user() == user  # a browser knows several accounts
        clock.shift(timedelta(hours=1))
        assert sign_in("Ada", browser=Browser(REMOTE_ADDR="198.51.100.1")).user() == user


def test_a_known_device_has_five_tries_of_its_own() -> None:
    UserFactory(username="Ada")
    own = sign_in("Ada")
    leave(own)
    assert [fails("Ada", "", own) for _ in range(6)] == [[WRONG]] * 5 + [LOCKED]
    assert fails("Ada", "127.0.0.1") == [WRONG]


def test_a_device_is_known_by_a_signed_cookie_for_a_year_on_account_pages() -> None:
    user = UserFactory(username="Ada")
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        own = sign_in("Ada")
        cookie = own.client.cookies["known_device"]
        kept = {name: cookie[name] for name in ("path", "httponly", "samesite", "max-age")}
        assert kept == {"path": "/accounts/", "httponly": True, "samesite": "Lax", "max-age": 365 * 86_400}
        assert user.username not in cookie.value
        request = HttpRequest()
        for value, is_known in ((cookie.value, True), (cookie.value[:-1] + "~", False), ("", False)):
            request.COOKIES = {"known_device": value}
            assert bool(known_devices.key_for(request, "ada")) is is_known
        request.COOKIES = {"known_device": cookie.value}
        clock.shift(timedelta(days=365, seconds=1))
        assert known_devices.key_for(request, "ada") == ""


def test_wrong_passwords_from_one_network_are_counted_together() -> None:
    """IPv6 by its /64, and an IPv4 address that is written as IPv6 as what it is."""
    for addresses in ([f"2001:db8::{number:x}" for number in range(11)], ["192.0.2.1"] * 5 + ["::ffff:192.0.2.1"] * 6):
        errors = [
            sign_in(f"nobody{number}", browser=Browser(REMOTE_ADDR=address)).errors()
            for number, address in enumerate(addresses)
        ]
        assert errors == [[WRONG]] * 10 + [["Too many failed sign-ins. Try again later."]]
    assert sign_in("nobody", browser=Browser(REMOTE_ADDR="2001:db8:0:1::1")).errors() == [WRONG]


def test_a_session_over_ipv6_has_the_first_address_of_its_network() -> None:
    user = UserFactory(username="Ada")
    assert sign_in("Ada", browser=Browser(REMOTE_ADDR="2001:db8::5:17")).user() == user
    assert list(UserSession.objects.values_list("user", "ip")) == [(user.pk, "2001:db8::")]


def test_behind_an_edge_proxy_the_address_that_it_names_is_counted(settings: Settings) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = "X-Client-Address"
    for number in range(10):
        sign_in(f"nobody{number}", browser=Browser(HTTP_X_CLIENT_ADDRESS="192.0.2.1"))
    errors = [
        sign_in("somebody", browser=Browser(HTTP_X_CLIENT_ADDRESS=address)).errors()
        for address in ("192.0.2.1", "192.0.2.2")
    ]
    assert errors == [["Too many failed sign-ins. Try again later."], [WRONG]]


def test_a_banned_user_cannot_sign_in() -> None:
    UserFactory(username="Ada", is_active=False)
    browser = sign_in("Ada")
    assert browser.user() is None
    assert browser.response.request["PATH_INFO"] == "/accounts/inactive/"


def test_a_sign_in_leads_back_to_where_it_started_and_nowhere_else() -> None:
    UserFactory(username="Ada")
    for wanted, led_to in (
        ("/accounts/email/", "/accounts/email/"),
        ("//evil.example/", "/dashboard/"),
        ("", "/dashboard/"),
    ):
        response = Client().post("/accounts/login/", {"login": "Ada", "password": PASSWORD, "next": wanted})
        assert (response.status_code, response["Location"]) == (302, led_to)


def test_the_hint_of_the_app_fills_the_login_field_and_the_session_gets_a_new_key() -> None:
    UserFactory(username="Ada")
    browser = Browser()
    session = browser.client.session
    session["any"] = "thing"
    session.save()
    browser.client.cookies["sessionid"] = before = str(session.session_key)
    response = HttpResponse()
    waiting_apps.add(HttpRequest(), response, form_action="https://app.example", login_hint='"><b>')
    browser.client.cookies.update(response.cookies)
    assert browser.open("/accounts/login/").form("password").fields["login"] == '"><b>'
    sign_in("Ada", browser=browser)
    assert browser.client.cookies["sessionid"].value not in {"", before}


def test_signing_out_is_a_post_and_ends_the_session() -> None:
    UserFactory(username="Ada")
    browser = sign_in("Ada")
    browser.client.get("/accounts/logout/")
    assert browser.user() is not None
    Client.post(browser.client, "/accounts/logout/", {"csrfmiddlewaretoken": browser.client.cookies["csrftoken"].value})
    assert browser.user() is None


@pytest.mark.parametrize(("minutes", "path"), [(4, "/accounts/2fa/totp/activate/"), (5, "/accounts/reauthenticate/")])
def test_the_password_is_asked_again_five_minutes_after_the_login(minutes: int, path: str) -> None:
    UserFactory(username="Ada")
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        browser = sign_in("Ada")
        clock.shift(timedelta(minutes=minutes))
        assert browser.open("/accounts/2fa/totp/activate/").response.request["PATH_INFO"] == path


class CountingHasher(QuickArgon2PasswordHasher):
    """Counts the hashes that it computes."""

    hashes = 0

    def encode(self, password: str, salt: str) -> str:
        CountingHasher.hashes += 1
        return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        CountingHasher.hashes += 1
        return super().verify(password, encoded)


@pytest.fixture
def hashes(settings: Settings) -> Callable[[], int]:
    """The number of password hashes since the last call."""
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher", *settings.PASSWORD_HASHERS[1:]]

    def taken() -> int:
        count, CountingHasher.hashes = CountingHasher.hashes, 0
        return count

    return taken


@pytest.mark.parametrize("password", [PASSWORD, "wrong horse"])
def test_a_login_costs_one_password_hash_whatever_it_names(hashes: Callable[[], int], password: str) -> None:
    """The time of an answer does not say which accounts exist."""
    UserFactory(username="Ada", email="ada@example.org")
    UserFactory(username="Ben", email="ben@example.org", is_active=False)
    UserFactory(username="Cyd", email="cyd@example.org", email_verified=False)
    UserFactory(username="Dan", email="dan@example.org", password=None)
    names = ["Ada", "Ben", "Cyd", "Dan", "nobody", "no@address"]
    logins = [*names, *(f"{name}@example.org" for name in names if "@" not in name)]
    hashes()
    counts = {}
    for number, login in enumerate(logins):
        sign_in(login, password, Browser(REMOTE_ADDR=f"192.0.2.{number}"))
        counts[login] = hashes()
    assert counts == dict.fromkeys(logins, 1)


@pytest.mark.parametrize("email", ["ada@example.org", ""])
def test_proving_the_password_again_costs_one_hash(hashes: Callable[[], int], email: str) -> None:
    user = UserFactory(username="Ada", email=email)
    browser = Browser()
    browser.client.force_login(user)
    counts = {}
    for path, field, password in (
        ("/accounts/reauthenticate/", "password", "wrong horse"),
        ("/accounts/reauthenticate/", "password", PASSWORD),
        ("/accounts/password/change/", "oldpassword", "wrong horse"),
    ):
        browser.open(path)
        hashes()
        browser.submit(**{field: password})
        counts[path, password] = hashes()
    assert set(counts.values()) == {1}, counts


PASSKEY_LOGIN = "/accounts/2fa/webauthn/login/"


def challenge_for(client: Client) -> dict[str, str]:
    answer = client.get(PASSKEY_LOGIN, headers={"accept": "application/json"})
    assert "sessionid" not in answer.cookies
    return dict(answer.json()["request_options"]["publicKey"])


def test_a_passkey_signs_in_by_a_challenge_that_no_session_keeps() -> None:
    user = UserFactory(username="Ada")
    passkey = Passkey(user)
    browser = Browser().open("/accounts/login/?next=/accounts/email/")
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        credential = passkey.answer(challenge_for(browser.client))
        clock.shift(timedelta(seconds=599))
        form = next(form for form in browser.page.forms if form.get("action") == PASSKEY_LOGIN)
        answer = browser.client.post(PASSKEY_LOGIN, {**dict(form.form_values()), "credential": credential})
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/email/")
    assert browser.user() == user
    assert browser.client.cookies["passkey_challenge"].value == ""


def test_a_challenge_works_once_for_ten_minutes_and_in_its_own_browser() -> None:
    passkey, browser = Passkey(UserFactory(username="Ada")), Client()
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        credential = passkey.answer(challenge_for(browser))
        cookie = browser.cookies["passkey_challenge"]
        assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Strict", 600)
        kept = cookie.value
        assert Client().post(PASSKEY_LOGIN, {"credential": credential})["Location"] == "/accounts/login/"
        assert browser.post(PASSKEY_LOGIN, {"credential": credential})["Location"] == "/dashboard/"
        again = Client()
        again.cookies["passkey_challenge"] = kept
        assert again.post(PASSKEY_LOGIN, {"credential": credential})["Location"] == "/accounts/login/"
        assert "sessionid" not in again.cookies
        late = Client()
        credential = passkey.answer(challenge_for(late))
        clock.shift(timedelta(seconds=601))
        assert late.post(PASSKEY_LOGIN, {"credential": credential})["Location"] == "/accounts/login/"
