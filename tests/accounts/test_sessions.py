"""Sessions while Redis is away, and after that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.sessions import SessionStore
from tests.factories.accounts import UserFactory
from tests.support.redis_commands import UNREACHABLE
from tests.support.threads import together

pytestmark = pytest.mark.django_db

PAGES = [
    "/",
    "/dashboard/",
    "/dashboard/apps/",
    "/dashboard/api-keys/",
    "/dashboard/profile/",
    "/dashboard/account/",
    "/accounts/password/change/",
]


@pytest.fixture(name="ada")
def a_user() -> User:
    return UserFactory(username="ada_lovelace")


@pytest.fixture(name="signed_in")
def signed_in_client(ada: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    return client


@pytest.fixture
def without_redis(signed_in: Client, settings: Settings) -> None:
    settings.CACHES = {**configured.CACHES, **UNREACHABLE}


@pytest.mark.usefixtures("without_redis")
@pytest.mark.parametrize("path", PAGES)
def test_without_redis_a_page_is_shown_to_its_user(signed_in: Client, path: str, ada: User) -> None:
    answer = signed_in.get(path)
    assert answer.status_code == 200
    assert ada.username in answer.content.decode()


@pytest.mark.usefixtures("without_redis")
def test_without_redis_a_session_does_not_end_and_the_page_says_so(signed_in: Client) -> None:
    """Redis still has a copy, which would go on after the outage."""
    answer = signed_in.post("/accounts/logout/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "Nothing was changed." in answer.content.decode()
    assert Session.objects.count() == 1


def test_a_session_that_has_ended_is_gone_from_redis(signed_in: Client) -> None:
    key = signed_in.cookies["sessionid"].value
    assert signed_in.post("/accounts/logout/").status_code == 302
    signed_in.cookies["sessionid"] = key
    assert signed_in.get("/dashboard/").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_a_request_before_the_commit_does_not_bring_an_ended_session_back(ada: User) -> None:
    browser = Client()
    browser.force_login(ada)
    browser.get("/dashboard/")

    def read(_: int) -> int:
        return browser.get("/dashboard/").status_code

    with transaction.atomic():
        SessionStore().delete(browser.cookies["sessionid"].value)
        assert together(1, read) == [200]  # the row is there until the commit
    assert browser.get("/dashboard/").status_code == 302


def test_a_request_that_read_the_row_before_does_not_bring_an_ended_session_back(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SessionStore(signed_in.cookies["sessionid"].value)
    read = store._get_session_from_db  # type: ignore[attr-defined]  # the stubs have none

    def read_and_end() -> Any:
        row = read()
        SessionStore().delete(store.session_key)
        return row

    caches[configured.SESSION_CACHE_ALIAS].delete(store.cache_key)
    monkeypatch.setattr(store, "_get_session_from_db", read_and_end)
    assert store.load()
    assert signed_in.get("/dashboard/").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_a_session_whose_end_is_undone_goes_on(ada: User) -> None:
    browser = Client()
    browser.force_login(ada)
    browser.get("/dashboard/")
    with transaction.atomic():
        SessionStore().delete(browser.cookies["sessionid"].value)
        transaction.set_rollback(True)
    assert browser.get("/dashboard/").status_code == 200


@pytest.mark.embedded
def test_a_copy_that_missed_a_change_does_not_live_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis may keep the copy from before an outage; the database has what was saved meanwhile."""
    copies = SessionStore()._cache
    kept: list[float] = []
    monkeypatch.setattr(copies, "_cache", SimpleNamespace(set=lambda key, value, timeout: kept.append(timeout)))
    for seconds in (1_209_600, 60):
        copies.set("key", {}, seconds)
    assert kept == [300, 60]
