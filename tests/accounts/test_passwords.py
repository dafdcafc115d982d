"""Passwords: which are too common, how they are hashed, compared, changed and reset."""

from __future__ import annotations

import re
import threading
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password, make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEvent, User
from accounts.sign_up import passwords
from accounts.sign_up.passwords import PasswordsBusy, Turns
from config import settings as written_settings
from imagehost.models import Folder
from tests.factories.accounts import PASSWORD, StaffFactory, UserFactory
from tests.factories.imagehost import FolderFactory
from tests.imagehost import answers
from tests.imagehost.public_pages import unlocked
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

NEW_PASSWORD = "a different horse battery"


def reset_link(mail: EmailMessage) -> str:
    links = re.findall(r"http://\S+(/accounts/password/reset/key/\S+)", str(mail.body))
    assert len(links) == 1, mail.body
    return str(links[0])


def test_a_password_is_stored_as_argon2id_with_production_strength(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = written_settings.PASSWORD_HASHERS
    browser = Browser().open("/accounts/signup/")
    browser.submit(username="Ada", email="ada@example.org", password1=PASSWORD)
    user = User.objects.get()
    assert user.password.startswith("argon2$argon2id$v=19$m=47104,t=1,p=1$")
    assert user.check_password(PASSWORD)
    assert not user.check_password(NEW_PASSWORD)


def test_a_forgotten_password_is_replaced_through_the_link_in_themail(mailoutbox: list[EmailMessage]) -> None:
    user = UserFactory(username="Ada", email="ada@example.org")
    browser = Browser().open("/accounts/password/reset/").submit(email="ADA@example.org")
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"]]

    link = reset_link(mailoutbox[0])
    assert user.check_password(PASSWORD)
    browser.open(link).submit(password1=NEW_PASSWORD, password2=NEW_PASSWORD)
    assert "password1" not in Browser().open(link).response.content.decode()  # it works once
    user.refresh_from_db()
    assert user.check_password(NEW_PASSWORD)
    assert Browser().open("/accounts/login/").submit(login="Ada", password=PASSWORD).user() is None
    assert Browser().open("/accounts/login/").submit(login="Ada", password=NEW_PASSWORD).user() == user


def test_asking_for_an_unknown_address_looks_the_same(mailoutbox: list[EmailMessage]) -> None:
    UserFactory(email="ada@example.org")
    chains = [
        Browser().open("/accounts/password/reset/").submit(email=email).response.redirect_chain
        for email in ("ada@example.org", "nobody@example.org")
    ]
    assert chains[0] == chains[1]
    assert User.objects.count() == 1


def test_more_than_5_resets_a_minute_for_one_address_are_refused() -> None:
    UserFactory(email="ada@example.org")
    statuses = [
        Browser().open("/accounts/password/reset/").submit(email="ada@example.org").response.status_code
        for _ in range(6)
    ]
    assert statuses == [200] * 5 + [429]


@pytest.mark.parametrize(
    "password",
    [
        "password1",  # of Django's list
        "1qaz2wsx3edc4rfv",
        "PASSWORD12345678",
        "iloveyou1234567890",
        "qwertyuiop123456789",
        "liverpool2010",
        "Manchesterunited",
    ],
)
def test_a_password_of_a_breach_is_refused(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        validate_password(password)
    assert refused.value.messages == ["This password is too common."]


@pytest.mark.parametrize("password", ["correct horse battery staple", "x7-Ölpest-Gezeiten", "🐎🔋 staple horse"])
def test_another_password_is_taken(password: str) -> None:
    validate_password(password)


def test_a_check_is_quick_and_keeps_nothing_in_memory() -> None:
    validate_password("a password that nobody uses")  # reads Django's list
    tracemalloc.start()
    began_at = time.perf_counter()
    for number in range(50):
        validate_password(f"a password that nobody uses {number}")
    seconds, (_, peak) = time.perf_counter() - began_at, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 5
    assert peak < 1_000_000


# One password as systems and keyboards send it: decomposed and composed, a ligature and letters, wide and narrow digits
TYPED = "Cafe\u0301 \ufb01ngerpost \uff11\uff12"
NORMALIZED = "Caf\u00e9 fingerpost 12"


class EarlierHasher(Argon2PasswordHasher):
    """The hasher of earlier releases, with little work: the text as it was typed, other figures."""

    time_cost = 1
    memory_cost = 16
    parallelism = 1


def hashed_before(password: str) -> str:
    return EarlierHasher().encode(password, "a salt of twenty two letters")


def test_at_most_as_many_passwords_as_processors_are_hashed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "TURNS", Turns(at_once=2, waiting=6))
    pair, counting, working = threading.Barrier(2, timeout=10), threading.Lock(), [0]
    most = 0

    def slow(self: Argon2PasswordHasher, password: str, salt: str) -> str:
        nonlocal most
        with counting:
            working[0] += 1
            most = max(most, working[0])
        pair.wait()
        with counting:
            working[0] -= 1
        return "argon2$"

    monkeypatch.setattr(Argon2PasswordHasher, "encode", slow)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(make_password, [PASSWORD] * 8)) == ["argon2$"] * 8
    assert most == 2


def test_who_finds_too_many_waiting_or_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "PATIENCE", 0.01)
    turns = Turns(at_once=1, waiting=1)
    with turns.turn():
        with pytest.raises(PasswordsBusy), turns.turn():
            pass
        assert turns._present.acquire(blocking=False)  # one waits
        monkeypatch.setattr(passwords, "PATIENCE", 600)
        with pytest.raises(PasswordsBusy), turns.turn():
            pass
        turns._present.release()
    with turns.turn():  # nothing is left behind
        pass


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch, db: None) -> Callable[[], None]:
    """Take every turn from here on."""

    def take() -> None:
        turns = Turns(at_once=1, waiting=0)
        assert turns._present.acquire(blocking=False)
        monkeypatch.setattr(passwords, "TURNS", turns)

    return take


@pytest.mark.parametrize("login", ["Ada", "ada@example.org", "nobody", "no@address"])
def test_a_busy_login_answers_503_whatever_it_names(busy: Callable[[], None], login: str) -> None:
    UserFactory(username="Ada", email="ada@example.org")
    busy()
    client = Client(raise_request_exception=False)
    response = client.post("/accounts/login/", {"login": login, "password": PASSWORD})
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert "Nothing was changed." in response.content.decode()
    assert "sessionid" not in response.cookies


NEW = {"password1": NORMALIZED, "password2": NORMALIZED}
DOORS: dict[str, dict[str, Any]] = {
    "/accounts/signup/": {"username": "Ben", "email": "ben@example.org", "password1": PASSWORD},
    "/accounts/password/change/": {"oldpassword": PASSWORD, **NEW},
    "/accounts/password/set/": NEW,
    "/accounts/reauthenticate/": {"password": PASSWORD},
    "/dashboard/imagehost/folders/": {"name": "Clips", "visibility": "password", "password": "open sesame"},
    "/folders/{folder}": {"password": "open sesame"},
    "/accounts/password/reset/key/{key}/": NEW,
    "/admin/accounts/user/act/reset_password/": {"_selected_action": "{user}", "reason": "Lost"},
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_answers_503_and_changes_nothing(
    busy: Callable[[], None], mailoutbox: list[EmailMessage], door: str
) -> None:
    user = StaffFactory(username="Ada", email="ada@example.org")
    if door == "/accounts/password/set/":
        user.set_unusable_password()
        user.save()
    folder = FolderFactory(owner=UserFactory(), is_public=True, password_hash=make_password("open sesame"))
    client = Client(raise_request_exception=False)
    path = door.format(folder=folder.pk, key="{key}")
    if "{key}" in door:
        client.post("/accounts/password/reset/", {"email": user.email})
        path = client.get(reset_link(mailoutbox[-1])).headers["Location"]
    elif door != "/accounts/signup/":
        client.force_login(user)
    data = {name: value.format(user=user.pk) for name, value in DOORS[door].items()}

    def stored() -> list[Any]:
        return [list(model.objects.order_by("pk").values()) for model in (User, Folder, AuditEvent)]

    before = stored()
    busy()
    response = client.post(path, data)
    assert (response.status_code, response.headers.get("Retry-After")) == (503, "1")
    assert stored() == before


def test_the_api_answers_503_in_its_own_form(busy: Callable[[], None]) -> None:
    answers.opal()
    busy()
    body = {"folderName": "Clips", "folderPublic": True, "folderPasswordEnabled": True, "folderPassword": "sesame"}
    answer = answers.create(body)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    assert Folder.objects.count() == 0


@pytest.mark.parametrize("stored_as", [TYPED, NORMALIZED])
@pytest.mark.parametrize("typed", [TYPED, NORMALIZED])
@pytest.mark.django_db
def test_a_password_is_the_same_however_it_is_typed(stored_as: str, typed: str) -> None:
    user = UserFactory(username="Ada", password=stored_as)
    assert Browser().open("/accounts/login/").submit(login="Ada", password=typed).user() == user


@pytest.mark.django_db
def test_a_password_of_an_earlier_release_still_works_and_is_upgraded_at_the_login() -> None:
    user = UserFactory(username="Ada")
    for at_first in (TYPED, NORMALIZED):
        user.password = hashed_before(at_first)
        user.save()
        assert Browser().open("/accounts/login/").submit(login="Ada", password="x" + at_first).user() is None
        assert Browser().open("/accounts/login/").submit(login="Ada", password=TYPED).user() == user
        user.refresh_from_db()
        assert user.password.startswith("argon2$argon2id$v=19$m=8,t=1,p=1$")
        assert Browser().open("/accounts/login/").submit(login="Ada", password=NORMALIZED).user() == user


@pytest.mark.django_db
def test_a_folder_of_an_earlier_release_still_opens_and_its_hash_is_upgraded() -> None:
    folder = FolderFactory(is_public=True, password_hash=hashed_before(TYPED))
    client = Client()
    assert client.post(f"/folders/{folder.pk}", {"password": TYPED}).status_code == 303
    assert client.get(f"/folders/{folder.pk}").status_code == 200
    folder.refresh_from_db()
    assert check_password(NORMALIZED, folder.password_hash)
    assert unlocked(folder.pk, NORMALIZED).get(f"/folders/{folder.pk}").status_code == 200


@pytest.mark.parametrize(
    ("password", "problem"),
    [
        ("\ufdfa", ""),  # one character that stands for eighteen
        ("\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18", "This password is too common."),
        ("\uff21da Love\u006cace", "The password is too similar to the username."),
        ("x\u0301y" * 350, "This password is too long. It may have at most 1024 characters."),
    ],
)
@pytest.mark.django_db
def test_a_new_password_is_judged_by_its_normalized_form(password: str, problem: str) -> None:
    browser = Browser().open("/accounts/signup/")
    browser.submit(username="AdaLovelace", email="ada@example.org", password1=password)
    if problem:
        assert browser.errors() == [problem]
    assert User.objects.count() == (0 if problem else 1)


@pytest.mark.django_db
def test_a_changed_password_may_be_repeated_as_it_is_typed() -> None:
    user = UserFactory(username="Ada")
    browser = Browser()
    browser.client.force_login(user)
    browser.open("/accounts/password/change/")
    browser.submit(oldpassword=PASSWORD, password1=TYPED, password2=TYPED)
    user.refresh_from_db()
    assert user.check_password(NORMALIZED)
