"""How often a folder's password may be guessed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client, override_settings

from imagehost.folders import folder_access
from imagehost.folders.folder_access import TooManyGuesses, WrongPassword
from imagehost.models import Folder
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext
from tests.accounts.clock import let_redis_pass
from tests.factories.imagehost import FolderFactory
from tests.imagehost.public_pages import LOCKED, PASSWORD, locked_folder, statuses
from tests.pages.markup import page_of, problems_of

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

Wait = Callable[[float], None]
START = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)


@pytest.fixture
def folder() -> Folder:
    return locked_folder()


@pytest.fixture
def wait() -> Iterator[Wait]:
    """Let seconds pass, for Redis too where the service has one."""
    with time_machine.travel(START, tick=False) as clock:

        def pass_(seconds: float) -> None:
            clock.shift(seconds)
            if settings.REDIS_URL:
                let_redis_pass(seconds)

        yield pass_


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


def test_guesses_are_counted_for_each_folder_and_address(folder: Folder) -> None:
    other = FolderFactory(password=PASSWORD)
    with time_machine.travel(START, tick=False):
        for _ in range(5):
            Client().post(f"/folders/{folder.pk}", {"password": "wrong"}, headers={"X-Forwarded-For": "203.0.113.9"})
        spoofed = Client().post(
            f"/folders/{folder.pk}", {"password": PASSWORD}, headers={"X-Forwarded-For": "198.51.100.1"}
        )
        assert spoofed.status_code == 429
        neighbour = Client(REMOTE_ADDR="198.51.100.7")
        assert neighbour.post(f"/folders/{folder.pk}", {"password": PASSWORD}).status_code == 303
        assert Client().post(f"/folders/{other.pk}", {"password": PASSWORD}).status_code == 303


def test_one_address_may_guess_thirty_times_a_minute_at_all_folders_together() -> None:
    folders = FolderFactory.create_batch(7, password=PASSWORD)
    with time_machine.travel(START, tick=False):
        for folder in folders[:6]:
            for _ in range(5):
                guess(folder, "198.51.100.7")
        assert guess(folders[6], "198.51.100.7") == "limited"
        assert guess(folders[6], "198.51.100.8") == "wrong"


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


def test_a_limit_store_that_does_not_answer_opens_nothing(client: Client, folder: Folder) -> None:
    with override_settings(CACHES=SILENT_REDIS, LIMIT_STORE="infrastructure.limits.redis_limits.RedisLimits"):
        response = client.post(f"/folders/{folder.pk}", {"password": PASSWORD})
    assert (response.status_code, response.headers["Retry-After"]) == (503, "30")
    assert problems_of(response) == []
    assert statuses(client, folder) == LOCKED
