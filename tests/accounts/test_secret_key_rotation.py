"""A new SECRET_KEY, with the old one in SECRET_KEY_FALLBACKS: what the old one has signed goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.exceptions import ValidationError
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.sign_up import waiting_apps
from dashboard.client_apps import actions
from tests.accounts.test_passwords import NEW_PASSWORD, reset_link
from tests.factories.accounts import PASSWORD, UserFactory
from tests.imagehost.public_pages import locked_folder, unlocked
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

OLD, NEW = "the-old-secret-key-of-this-test", "the-new-secret-key-of-this-test"
Check = Callable[[], bool]


def _session() -> Check:
    user = UserFactory()
    client = Client()
    client.force_login(user)
    return lambda: client.get("/dashboard/").status_code == 200


def _form_token() -> Check:
    """A form that was opened before is sent after."""
    UserFactory(username="Ada")
    browser = Browser().open("/accounts/login/")
    return lambda: browser.submit(login="Ada", password=PASSWORD).user() is not None


def _password_reset_link() -> Check:
    user = UserFactory(username="Ada", email="ada@example.org")
    Browser().open("/accounts/password/reset/").submit(email="ada@example.org")
    link = reset_link(mail.outbox[-1])

    def is_changed() -> bool:
        page = Browser().open(link)
        if "password1" not in page.response.content.decode():
            return False
        page.submit(password1=NEW_PASSWORD, password2=NEW_PASSWORD)
        user.refresh_from_db()
        return user.check_password(NEW_PASSWORD)

    return is_changed


def _waiting_apps() -> Check:
    response = HttpResponse()
    waiting_apps.add(HttpRequest(), response, form_action="https://app.example.org", login_hint="ada")
    request = HttpRequest()
    request.COOKIES[waiting_apps.COOKIE] = response.cookies[waiting_apps.COOKIE].value
    return lambda: waiting_apps.of(request).form_actions == ("https://app.example.org",)


def _ticket_of_a_new_app() -> Check:
    owner = UserFactory()
    ticket = actions.new_ticket(owner)

    def is_taken() -> bool:
        try:
            return bool(actions.client_id_of(ticket, owner))
        except ValidationError:
            return False

    return is_taken


def _unlocked_folder() -> Check:
    folder = locked_folder()
    client = unlocked(folder.pk)
    return lambda: client.get(f"/folders/{folder.pk}").status_code == 200


SIGNED = [_session, _password_reset_link, _waiting_apps, _ticket_of_a_new_app, _unlocked_folder]


@pytest.mark.parametrize("make", [*SIGNED, _form_token])
def test_what_the_old_key_signed_goes_on(settings: Settings, make: Callable[[], Check]) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []
    check = make()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    assert check()


@pytest.mark.parametrize("make", SIGNED)
def test_it_ends_with_the_old_key(settings: Settings, make: Callable[[], Check]) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []
    check = make()
    settings.SECRET_KEY = NEW
    _forget_cached_sessions()
    assert not check()


def _forget_cached_sessions() -> None:
    from django.core.cache import cache  # the copy in Redis is not signed

    cache.clear()


@pytest.fixture
def ada(settings: Settings) -> tuple[User, Client]:
    """She signed in under the old key, and the new one is in use."""
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []
    user, client = UserFactory(), Client()
    client.force_login(user)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    return user, client


def test_once_used_a_session_needs_the_old_key_no_more(ada: tuple[User, Client], settings: Settings) -> None:
    user, client = ada
    assert client.get("/dashboard/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    _forget_cached_sessions()
    assert client.get("/dashboard/").context["user"] == user


def test_a_session_keeps_its_id(ada: tuple[User, Client]) -> None:
    _, client = ada
    before = client.cookies["sessionid"].value
    assert client.get("/dashboard/").status_code == 200
    assert client.cookies["sessionid"].value == before
    assert [session.session_key for session in Session.objects.all()] == [before]


def test_a_session_of_an_unknown_key_ends(ada: tuple[User, Client], settings: Settings) -> None:
    _, client = ada
    settings.SECRET_KEY_FALLBACKS = ["another"]
    assert client.get("/dashboard/").status_code == 302
    assert Session.objects.count() == 0


def test_signing_in_still_changes_the_id(ada: tuple[User, Client], settings: Settings) -> None:
    user, _ = ada
    client = Client()
    folder = locked_folder()
    client.post(f"/folders/{folder.pk}", {"password": "x"})
    session = client.session
    session["known"] = 1
    session.save()
    client.cookies["sessionid"] = session.session_key or ""
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    assert client.session["_auth_user_id"] == user.pk
    assert client.cookies["sessionid"].value != session.session_key


@pytest.mark.django_db(transaction=True)
def test_the_requests_of_one_page_find_the_same_session(ada: tuple[User, Client]) -> None:
    """Each carries the cookie that the browser had when the page began to load."""
    user, client = ada
    cookie = client.cookies["sessionid"].value
    answers: list[int] = []

    def request() -> None:
        other = Client()
        other.cookies["sessionid"] = cookie
        answer = other.get("/dashboard/")
        answers.append(answer.status_code)
        assert "sessionid" not in other.cookies or other.cookies["sessionid"].value == cookie
        connection.close()

    threads = [threading.Thread(target=request) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 4
    assert Client(headers={"Cookie": f"sessionid={cookie}"}).get("/dashboard/").status_code == 200
    assert user.pk
