"""A folder's password: what it covers, what opens it, how long, and how often it may be guessed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.test import Client, override_settings

from imagehost.folders import folder_access
from imagehost.folders.folder_access import TooManyGuesses, WrongPassword
from imagehost.models import Folder
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext
from tests.accounts.clock import let_redis_pass
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.public_pages import (
    CONTENT,
    LOCKED,
    OPEN,
    PASSWORD,
    PREVIEW,
    locked_folder,
    messenger_tags,
    signed_in,
    statuses,
    stored,
    unlocked,
)
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

START = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)


@pytest.fixture
def folder() -> Folder:
    return locked_folder()


def test_a_locked_page_asks_for_the_password_and_says_nothing_else(client: Client, folder: Folder) -> None:
    for path in (f"/folders/{folder.pk}", "/files/Picture1", f"/folders/{folder.pk}/files.zip"):
        response = client.get(path)
        assert (response.status_code, problems_of(response)) == (403, [])
        assert page_of(response).findtext(".//title").startswith("This folder is locked")
        assert messenger_tags(response) == {
            "viewport": "width=device-width, initial-scale=1",
            "color-scheme": "light dark",
            "robots": "noindex",
        }
        for secret in (b"Secret plans", b"Ada", b"blueprint", b"preview", b".png"):
            assert secret not in response.content
        assert response.headers["Cache-Control"] == "private, no-store"
        assert response.headers["X-Robots-Tag"] == "noindex"
        assert "sessionid" not in response.cookies


def test_every_address_is_locked_until_the_password_is_given_and_caches_keep_nothing(
    client: Client, folder: Folder
) -> None:
    assert statuses(client, folder) == LOCKED
    response = client.post(f"/folders/{folder.pk}", {"password": PASSWORD})
    assert (response.status_code, response.headers["Location"]) == (303, f"/folders/{folder.pk}")
    assert response.headers["Cache-Control"] == "private, no-store"
    assert statuses(client, folder) == OPEN
    assert statuses(Client(), folder) == LOCKED
    below = [f"/folders/{folder.pk}{path}" for path in ("", "/files.zip", "/previews/Picture1.webp")]
    for path in (*below, "/files/Picture1", "/files/Picture1/preview.webp"):
        assert client.get(path).headers["Cache-Control"] == "private, no-store"


def test_its_owner_needs_no_password_and_another_user_does(folder: Folder) -> None:
    assert statuses(signed_in(folder.owner), folder) == OPEN
    assert statuses(signed_in(UserFactory()), folder) == LOCKED


def test_a_wrong_password_opens_nothing(client: Client, folder: Folder) -> None:
    for password in ("", PASSWORD.upper(), f" {PASSWORD}", "x" * 100_000, "\0"):
        response = client.post(f"/folders/{folder.pk}", {"password": password})
        assert (response.status_code, problems_of(response)) == (403, [])
        (field,) = page_of(response).xpath("//input[@name='password']")
        assert (field.get("aria-invalid"), field.get("value")) == ("true", None)
        assert page_of(response).xpath("//ul[@role='alert']/li/text()") == ["This is not the password."]
    assert Session.objects.count() == 0
    assert statuses(client, folder) == LOCKED


def test_an_unlock_opens_no_other_folder(client: Client, folder: Folder) -> None:
    other = FolderFactory(owner=folder.owner, password=PASSWORD)
    stored(folder=other, name="Another1", preview=PREVIEW)
    client.post(f"/folders/{other.pk}", {"password": PASSWORD})
    assert client.get(f"/folders/{other.pk}").status_code == 200
    assert statuses(client, folder) == LOCKED
    assert client.get(f"/folders/{other.pk}/previews/Picture1.webp").status_code == 404
    session = client.session  # an unlock that is copied there opens nothing either
    twin = FolderFactory(owner=folder.owner, password_hash=other.password_hash, is_public=True)
    session["unlocked_folders"] = {twin.pk: session["unlocked_folders"][other.pk]}
    session.save()
    assert client.get(f"/folders/{twin.pk}").status_code == 403


def test_a_session_keeps_the_newest_unlocks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder_access.MAX_UNLOCKED == 20
    monkeypatch.setattr(folder_access, "MAX_UNLOCKED", 2)
    hash_ = make_password(PASSWORD)
    folders = [FolderFactory(password_hash=hash_, is_public=True) for _ in range(3)]
    with time_machine.travel(START, tick=False) as clock:
        for folder in folders:
            clock.shift(1)
            assert client.post(f"/folders/{folder.pk}", {"password": PASSWORD}).status_code == 303
        found = [client.get(f"/folders/{folder.pk}").status_code for folder in folders]
    assert found == [403, 200, 200]


def test_a_changed_password_locks_the_folder_again(folder: Folder) -> None:
    client = unlocked(folder.pk)
    for again in ("another word", PASSWORD):
        Folder.objects.update(password_hash=make_password(again))
        assert statuses(client, folder) == LOCKED
        client.post(f"/folders/{folder.pk}", {"password": again})
        assert statuses(client, folder) == OPEN


def test_an_unlock_ends_after_an_hour(folder: Folder) -> None:
    with time_machine.travel(START, tick=False) as clock:
        client = unlocked(folder.pk)
        clock.shift(3599)
        assert statuses(client, folder) == OPEN
        clock.shift(1)
        assert statuses(client, folder) == LOCKED


def test_an_unlock_ends_with_the_browser_and_leaves_a_sign_in_alone(folder: Folder) -> None:
    response = Client().post(f"/folders/{folder.pk}", {"password": PASSWORD})
    cookie = response.cookies["sessionid"]
    assert (cookie["max-age"], cookie["expires"], cookie["httponly"], cookie["samesite"]) == ("", "", True, "Lax")
    member = signed_in(UserFactory())
    key = member.session.session_key
    cookie = member.post(f"/folders/{folder.pk}", {"password": PASSWORD}).cookies["sessionid"]
    assert (cookie["max-age"], cookie.value) == (14 * 24 * 3600, key)


def test_a_planted_session_is_not_unlocked_along(folder: Folder) -> None:
    attacker = unlocked(FolderFactory(password="known to them").pk, "known to them")
    victim = Client()
    victim.cookies["sessionid"] = attacker.session.session_key or ""
    assert victim.post(f"/folders/{folder.pk}", {"password": PASSWORD}).status_code == 303
    assert statuses(victim, folder) == OPEN
    assert statuses(attacker, folder) == LOCKED


def test_a_file_page_comes_back_after_the_password(client: Client, folder: Folder) -> None:
    form = page_of(client.get("/files/Picture1")).forms[0]
    assert (form.get("action"), form.get("method")) == (f"/folders/{folder.pk}", "post")
    fields = dict(form.fields)
    assert fields.pop("csrfmiddlewaretoken")
    assert fields == {"file": "Picture1", "password": None}
    response = client.post(form.get("action"), {"file": "Picture1", "password": PASSWORD})
    assert (response.status_code, response.headers["Location"]) == (303, "/files/Picture1")


ELSEWHERE = ["https://evil.example/", "//evil.example", "Another1", "../accounts/logout/", "x\r\nA: b", "a\0b"]


def test_a_name_that_is_not_in_the_folder_leads_to_the_folder(folder: Folder) -> None:
    FileFactory(name="Another1")
    client = unlocked(folder.pk)
    for name in ELSEWHERE:
        fields = {"file": name, "next": name, "password": PASSWORD}
        response = client.post(f"/folders/{folder.pk}?next=//evil.example", fields)
        assert (response.status_code, response.headers["Location"]) == (303, f"/folders/{folder.pk}")


def test_a_password_where_none_is_asked_for_counts_no_guess_and_a_strangers_is_404(client: Client) -> None:
    rows: list[dict[str, Any]] = [{}, {"is_public": True}, {"password": PASSWORD}]
    for values in rows:
        folder = FolderFactory(**values)
        owner = signed_in(folder.owner)
        for _ in range(6):
            response = owner.post(f"/folders/{folder.pk}", {"password": "anything"})
            assert (response.status_code, response.headers["Location"]) == (303, f"/folders/{folder.pk}")
    for folder_id in (FolderFactory().pk, "0" * 32):
        assert client.post(f"/folders/{folder_id}", {"password": PASSWORD}).status_code == 404


def test_the_file_itself_stays_public_to_whoever_knows_its_name(client: Client, folder: Folder) -> None:
    assert b"".join(client.get("/media/Picture1.png")) == CONTENT
    assert statuses(client, folder) == LOCKED


def test_the_form_is_protected_against_other_sites(folder: Folder) -> None:
    browser = Client(enforce_csrf_checks=True)
    path = f"/folders/{folder.pk}"
    assert browser.post(path, {"password": PASSWORD}).status_code == 403
    assert statuses(browser, folder) == LOCKED
    token = page_of(browser.get(path)).forms[0].fields["csrfmiddlewaretoken"]
    assert browser.post(path, {"password": PASSWORD, "csrfmiddlewaretoken": token}).status_code == 303


Wait = Callable[[float], None]


@pytest.fixture
def wait() -> Iterator[Wait]:
    """Let seconds pass, for Redis too where the service has one."""
    with time_machine.travel(START, tick=False) as clock:

        def pass_(seconds: float) -> None:
            clock.shift(seconds)
            if settings.REDIS_URL:
                let_redis_pass(seconds)

        yield pass_


@pytest.mark.embedded
def test_five_guesses_a_minute_and_then_not_even_the_right_password(client: Client, folder: Folder, wait: Wait) -> None:
    path = f"/folders/{folder.pk}"
    for _ in range(5):
        assert client.post(path, {"password": "wrong"}).status_code == 403
    wait(20)
    response = client.post(path, {"password": PASSWORD})
    seconds = int(response.headers["Retry-After"])
    assert (response.status_code, 30 < seconds <= 40) == (429, True)  # Redis has a clock that goes on
    assert problems_of(response) == []
    text = f"Too many tries. Please try again in {seconds} s."
    assert page_of(response).xpath("//ul[@role='alert']/li/text()") == [text]
    assert statuses(client, folder) == LOCKED
    wait(40)
    assert client.post(path, {"password": PASSWORD}).status_code == 303


@pytest.mark.embedded
def test_guesses_are_counted_for_each_folder_and_address(folder: Folder) -> None:
    other = FolderFactory(password=PASSWORD)
    with time_machine.travel(START, tick=False):
        for _ in range(5):
            Client().post(f"/folders/{folder.pk}", {"password": "wrong"}, headers={"X-Forwarded-For": "203.0.113.9"})
        spoofed = Client().post(
            f"/folders/{folder.pk}", {"password": PASSWORD}, headers={"X-Forwarded-For": "198.51.100.1"}
        )
        assert spoofed.status_code == 429
        neighbor = Client(REMOTE_ADDR="198.51.100.7")
        assert neighbor.post(f"/folders/{folder.pk}", {"password": PASSWORD}).status_code == 303
        assert Client().post(f"/folders/{other.pk}", {"password": PASSWORD}).status_code == 303


@pytest.mark.embedded
def test_one_address_may_guess_thirty_times_a_minute_at_all_folders_together() -> None:
    folders = FolderFactory.create_batch(7, password=PASSWORD)
    with time_machine.travel(START, tick=False):
        for folder in folders[:6]:
            for _ in range(5):
                guess(folder, "198.51.100.7")
        assert guess(folders[6], "198.51.100.7") == "limited"
        assert guess(folders[6], "198.51.100.8") == "wrong"


@pytest.mark.embedded
def test_all_addresses_together_may_guess_a_hundred_times_a_minute_at_a_folder(folder: Folder) -> None:
    with time_machine.travel(START, tick=False):
        for number in range(100):
            assert guess(folder, f"198.51.100.{number // 5}") == "wrong"
        assert guess(folder, "198.51.100.99") == "limited"
        assert guess(FolderFactory(password=PASSWORD), "198.51.100.99") == "wrong"


def guess(folder: Folder, address: str) -> str:
    """What a wrong password from the address comes to, without the work of its hash."""
    token = request_context.current.set(RequestContext(address=address))
    try:
        folder_access.unlock(folder, "x" * 33, viewer=AnonymousUser(), session=SessionBase(), now=START)
    except WrongPassword:
        return "wrong"
    except TooManyGuesses:
        return "limited"
    finally:
        request_context.current.reset(token)
    raise AssertionError("A wrong password opened the folder.")


SILENT_REDIS = {"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}


@pytest.mark.embedded
def test_a_limit_store_that_does_not_answer_opens_nothing(client: Client, folder: Folder) -> None:
    with override_settings(CACHES=SILENT_REDIS, LIMIT_STORE="infrastructure.limits.in_redis.RedisLimits"):
        response = client.post(f"/folders/{folder.pk}", {"password": PASSWORD})
    assert (response.status_code, response.headers["Retry-After"]) == (503, "30")
    assert problems_of(response) == []
    assert statuses(client, folder) == LOCKED
