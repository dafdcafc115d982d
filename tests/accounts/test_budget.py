"""What key and address have left, on every answer under /api/: draft-ietf-httpapi-ratelimit-headers-11."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ApiKey, Permission
from accounts.plans import Plan
from tests.accounts.calls import ADDRESS, SECRET, call
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.support import redis_commands
from tests.support.redis_commands import UNREACHABLE

Wait = Callable[[float], None]
pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.accounts.api_urls"), pytest.mark.usefixtures("fresh")]

OF_ADDRESS = '"address";q=60;w=60'
OF_BOTH = f'"key";q=30;w=60, {OF_ADDRESS}'
ITEM = re.compile(r'"(key|address)";r=(\d+);t=(\d+)')


@pytest.fixture
def key() -> ApiKey:
    return ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_PRESENCE, Permission.ACCOUNT])


def budget(response: Any) -> tuple[int, str, str]:
    """Status and both headers; "" for one that is not there. Any: the client's response.

    Of seconds above 50, ten count as one: many requests take a while, which Redis sees.
    """
    headers = response.headers
    rest = re.sub(r"t=5[1-9]", "t=60", headers.get("RateLimit", ""))
    return response.status_code, headers.get("RateLimit-Policy", ""), rest


def left(response: Any) -> dict[str, tuple[int, int]]:
    """What a client reads of the answer: requests and seconds, by policy."""
    return {name: (int(r), int(t)) for name, r, t in ITEM.findall(response.headers["RateLimit"])}


@pytest.mark.embedded
def test_an_answer_names_what_key_and_address_have_left(key: ApiKey, wait: Wait) -> None:
    assert budget(call()) == (200, OF_BOTH, '"key";r=29;t=60, "address";r=59;t=60')
    wait(20.4)
    assert budget(call("/api/open", secret=None)) == (200, OF_ADDRESS, '"address";r=58;t=40')
    wait(9.6)
    assert budget(call()) == (200, OF_BOTH, '"key";r=28;t=30, "address";r=57;t=30')
    wait(29.5)
    assert budget(call()) == (200, OF_BOTH, '"key";r=27;t=1, "address";r=56;t=1')
    wait(0.5)
    assert budget(call()) == (200, OF_BOTH, '"key";r=29;t=60, "address";r=59;t=60')


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("path", "secret", "status"),
    [
        ("/api/open", None, 200),
        ("/api/keyed", None, 401),
        ("/api/keyed", "nobody's", 401),
        ("/api/keyed", "ü", 401),
        ("/api/earlier", None, 404),
        (f"/api/earlier?{'&' * 1000}", SECRET, 400),  # more parameters than a query may have
        ("/api/failing/api-error", None, 400),
        ("/api/failing/missing", None, 404),
        ("/api/failing/suspicious", None, 400),
        ("/api/nothing", SECRET, 404),
        ("/api", SECRET, 404),
        ("/api/length", SECRET, 405),
    ],
)
def test_an_answer_without_an_accepted_key_names_what_the_address_has_left(
    key: ApiKey, path: str, secret: str | None, status: int
) -> None:
    assert budget(call(path, secret)) == (status, OF_ADDRESS, '"address";r=59;t=60')


def test_a_key_that_is_refused_for_itself_is_not_named(key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(is_enabled=False)
    assert budget(call()) == (403, OF_ADDRESS, '"address";r=59;t=60')


def test_an_exception_after_the_check_is_answered_with_the_budget(key: ApiKey) -> None:
    response = Client(REMOTE_ADDR=ADDRESS, raise_request_exception=False).get("/api/failing/broken")
    assert budget(response) == (500, OF_ADDRESS, '"address";r=59;t=60')


def test_a_key_with_premium_has_its_own_policy() -> None:
    ApiKeyFactory(secret=SECRET, owner=UserFactory(plan=Plan.PREMIUM), permissions=[Permission.LOOKUP_PRESENCE])
    assert budget(call()) == (200, f'"key";q=60;w=60, {OF_ADDRESS}', '"key";r=59;t=60, "address";r=59;t=60')


@pytest.mark.embedded
def test_a_request_that_counts_as_several_leaves_so_many_less_to_its_key(key: ApiKey) -> None:
    for _ in range(9):
        call("/api/costly")
    assert budget(call()) == (200, OF_BOTH, '"key";r=2;t=60, "address";r=50;t=60')
    assert budget(call("/api/costly")) == (429, OF_BOTH, '"key";r=2;t=60, "address";r=50;t=60')


@pytest.mark.embedded
def test_a_refusal_by_the_keys_limit_names_both_and_one_by_the_addresss_limit_the_address(key: ApiKey) -> None:
    for _ in range(30):
        call()
    refused = call()
    assert budget(refused) == (429, OF_BOTH, '"key";r=0;t=60, "address";r=30;t=60')
    assert 50 < int(refused.headers["Retry-After"]) <= 60
    for _ in range(30):
        call("/api/open")
    refused = call()
    assert budget(refused) == (429, OF_ADDRESS, '"address";r=0;t=60')
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert budget(call("/api/open")) == (429, OF_ADDRESS, '"address";r=0;t=60')


def test_a_used_up_quota_is_refused_with_the_budget(key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(remaining_uses=0)
    assert budget(call()) == (401, OF_BOTH, '"key";r=29;t=60, "address";r=59;t=60')


def test_premium_that_ends_within_a_window_leaves_nothing_and_never_less(wait: Wait) -> None:
    owner = UserFactory(plan=Plan.PREMIUM, plan_expires_at=timezone.now() + timedelta(seconds=10))
    ApiKeyFactory(secret=SECRET, owner=owner, permissions=[Permission.LOOKUP_PRESENCE])
    for _ in range(40):
        call()
    wait(10)
    assert budget(call()) == (429, OF_BOTH, '"key";r=0;t=50, "address";r=20;t=50')


def test_where_nothing_is_counted_no_budget_is_named(key: ApiKey, settings: Settings) -> None:
    settings.RATE_LIMITS_ENABLED = False
    for response in (call(), call("/api/open"), call(secret="nobody's")):
        assert budget(response)[1:] == ("", "")


def test_while_nothing_can_be_counted_no_budget_is_named(key: ApiKey, settings: Settings) -> None:
    settings.CACHES, settings.LIMIT_STORE = UNREACHABLE, "infrastructure.limits.in_redis.RedisLimits"
    assert budget(call()) == (503, "", "")


def test_the_protocol_and_a_request_that_is_refused_uncounted_name_no_budget() -> None:
    assert budget(Client(headers={"host": "elsewhere.example"}).get("/api/open")) == (400, "", "")
    assert budget(Client().get("/api/auth/nothing")) == (404, "", "")


def test_the_budget_comes_from_the_round_trip_that_counts(key: ApiKey, monkeypatch: pytest.MonkeyPatch) -> None:
    call()
    commands = redis_commands.noted(monkeypatch)
    assert left(call())["key"] == (28, 60)
    assert left(call("/api/open"))["address"] == (57, 60)
    assert commands == ["EVALSHA", "EVALSHA"]


@pytest.mark.embedded
def test_a_client_that_reads_only_the_budget_sends_10000_requests_and_meets_no_429(key: ApiKey, wait: Wait) -> None:
    """It waits for a policy that has nothing left, until that gets more, and never longer.

    Three keys share its address, so that it meets the limit of a key at times, and that of the address at others.
    """
    secrets = SECRET, "another", "a third"
    for secret in secrets[1:]:
        ApiKeyFactory(secret=secret, permissions=[Permission.LOOKUP_PRESENCE])
    known: dict[str, tuple[int, int]] = {}  # by secret, and of the address: requests, and when it gets more
    now, waits, statuses = 0, {"key": 0, "address": 0}, set()
    for number in range(10_000):
        secret = secrets[number % 3 if number % 1000 < 500 else 0]
        for name, of in (("key", secret), ("address", "address")):
            requests, gets_more_at = known.get(of, (1, 0))
            if requests == 0 and gets_more_at > now:
                wait(gets_more_at - now)
                now = gets_more_at
                waits[name] += 1
        response = call(secret=secret)
        statuses.add(response.status_code)
        for name, (requests, seconds) in left(response).items():
            known[secret if name == "key" else "address"] = requests, now + seconds
    assert statuses == {200}
    assert min(waits.values()) > 10, waits
