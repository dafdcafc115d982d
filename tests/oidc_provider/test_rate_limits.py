"""100 requests a minute for each address and endpoint; the discovery document is not limited."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.conf import settings as configured
from django.test import Client
from pytest_django import Settings

from accounts import rate_limits
from accounts.models import User
from oidc_provider.models import Grant
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    DISCOVERY,
    END_SESSION,
    INTROSPECT,
    KEY_SET,
    REVOKE,
    TOKEN,
    USERINFO,
    Answer,
    App,
    authorize,
    code_for,
)
from tests.pages.markup import problems_of
from tests.support.redis_commands import UNREACHABLE

LIMITED = {
    AUTHORIZE: "GET",
    TOKEN: "POST",
    USERINFO: "GET",
    INTROSPECT: "POST",
    REVOKE: "POST",
    END_SESSION: "GET",
    KEY_SET: "GET",
}
Wait = Callable[[float], None]
pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(autouse=True)
def _three_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits.PROTOCOL, "amount", 3)


def _ask(path: str, address: str = "203.0.113.7") -> Answer:
    return Client(REMOTE_ADDR=address).generic(LIMITED[path], path)


def _use_up(path: str, address: str = "203.0.113.7") -> set[int]:
    return {_ask(path, address).status_code for _ in range(3)}


@pytest.fixture
def wait(clock: time_machine.Traveller) -> Wait:
    """Let seconds pass, also for the limits."""

    def redis(seconds: float) -> None:
        """Shorten the remaining time of every key, because tests cannot move the clock of Redis."""
        from django_redis import get_redis_connection

        connection = get_redis_connection("default")
        for key in connection.scan_iter():
            connection.pexpire(key, connection.pttl(key) - math.ceil(seconds * 1000))

    def in_process(seconds: float) -> None:
        clock.shift(timedelta(seconds=seconds))

    return redis if configured.REDIS_URL else in_process


@pytest.mark.parametrize("path", LIMITED)
def test_requests_over_the_limit_of_an_endpoint_are_429_and_other_endpoints_go_on(path: str) -> None:
    assert 429 not in _use_up(path)
    answer = _ask(path)
    assert (answer.status_code, answer["Content-Type"]) == (429, "application/json")
    assert answer.json() == {"message": "Too many requests. Please try again later."}
    assert answer["X-Retry-After"] == answer["Retry-After"]
    assert 1 <= int(answer["X-Retry-After"]) <= 60
    assert "Access-Control-Allow-Origin" not in answer or path == KEY_SET
    assert {other: _ask(other).status_code == 429 for other in LIMITED} == {other: other == path for other in LIMITED}


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


@pytest.mark.parametrize("path", [AUTHORIZE, END_SESSION])
def test_a_browser_over_the_limit_gets_a_page_that_says_how_long_to_wait(path: str, user: User) -> None:
    _use_up(path)
    browser = Client(REMOTE_ADDR="203.0.113.7")
    answer = browser.get(path, headers={"accept": BROWSER})
    assert (answer.status_code, problems_of(answer)) == (429, [])
    assert answer["X-Retry-After"] == answer["Retry-After"]
    assert f"Wait {answer['Retry-After']} second" in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"
    assert answer["X-Request-Id"]


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html;q=0.5", ""])
def test_another_client_over_the_limit_gets_the_documented_body(accept: str) -> None:
    _use_up(AUTHORIZE)
    answer = Client(REMOTE_ADDR="203.0.113.7").get(AUTHORIZE, headers={"accept": accept})
    assert answer.json() == {"message": "Too many requests. Please try again later."}


@pytest.mark.parametrize(
    ("address", "other", "is_shared"),
    [
        ("203.0.113.7", "203.0.113.8", False),
        ("2001:db8::1", "2001:db8::2", True),
    ],
)
def test_another_address_counts_for_itself(address: str, other: str, is_shared: bool) -> None:
    _use_up(REVOKE, address)
    assert _ask(REVOKE, address).status_code == 429
    assert (_ask(REVOKE, other).status_code == 429) is is_shared


def test_the_window_ends_sixty_seconds_after_its_first_request(wait: Wait) -> None:
    _ask(TOKEN)
    wait(30)
    assert {_ask(TOKEN).status_code for _ in range(2)} == {400}
    assert _ask(TOKEN).status_code == 429
    wait(29)
    assert _ask(TOKEN).status_code == 429
    wait(1.001)
    assert {_ask(TOKEN).status_code for _ in range(3)} == {400}
    assert _ask(TOKEN).status_code == 429


def test_wrong_methods_count_too() -> None:
    for _ in range(3):
        assert Client(REMOTE_ADDR="203.0.113.7").delete(TOKEN).status_code == 405
    assert _ask(TOKEN).status_code == 429


def test_a_limited_request_does_nothing(app: App, browser: Client) -> None:
    code_for(browser, app.application)
    limited = Client(REMOTE_ADDR="203.0.113.7")
    limited.cookies = browser.cookies
    _use_up(AUTHORIZE)
    assert authorize(limited, app.application).status_code == 429
    assert Grant.objects.count() == 1


def test_discovery_is_never_limited_and_uses_nothing_up() -> None:
    assert {Client(REMOTE_ADDR="203.0.113.7").get(DISCOVERY).status_code for _ in range(5)} == {200}
    assert _ask(KEY_SET).status_code == 200


def test_without_its_store_the_key_set_is_served(client: Client, settings: Settings) -> None:
    settings.CACHES, settings.LIMIT_STORE = UNREACHABLE, "infrastructure.limits.in_redis.RedisLimits"
    answer = client.get(KEY_SET)
    assert answer.status_code == 200
    assert "keys" in answer.json()


@pytest.mark.parametrize("path", [USERINFO, AUTHORIZE])
def test_without_its_store_the_limit_is_503_and_not_open(client: Client, settings: Settings, path: str) -> None:
    settings.CACHES, settings.LIMIT_STORE = UNREACHABLE, "infrastructure.limits.in_redis.RedisLimits"
    answer = client.get(path)
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert answer.json() == {
        "error": "temporarily_unavailable",
        "error_description": "The service cannot count requests at the moment. Try again.",
    }
