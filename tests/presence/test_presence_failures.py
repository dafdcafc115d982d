"""What a reader does while the store takes no writes, or the limits do not answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache
from django.test import override_settings
from django.utils import timezone
from pytest_django import Settings
from redis import RedisError

from infrastructure import limits
from presence.answer import members, refreshing, rest
from presence.answer.refreshing import SingleFlight
from presence.answer.rest import RestUnavailable
from presence.errors import ChatNotFound, NotMember, PresenceUnavailable
from presence.store.caches import StoreCache
from presence.store.store import PresenceStore
from tests.presence import lookups, reading
from tests.presence.lookups import ADA, BEN, UNAVAILABLE
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db
HASH = "a" * 32
UNREACHABLE = {"BACKEND": "presence.store.redis_cache.PresenceRedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
TEN_MINUTES = timedelta(minutes=10)


class UnwritableCache(LocMemCache):
    """A replica, or a full disk: it reads what a LocMemCache at the same LOCATION holds."""

    def set(self, *arguments: Any, **options: Any) -> None:
        raise RedisError("READONLY")

    def add(self, *arguments: Any, **options: Any) -> bool:
        raise RedisError("READONLY")

    def delete(self, *arguments: Any, **options: Any) -> bool:
        raise RedisError("READONLY")

    prefetch, raw, decoded = StoreCache.prefetch, StoreCache.raw, StoreCache.decoded


@pytest.fixture(autouse=True)
def _noon(db: None) -> Iterator[None]:
    with reading.standing_still():
        lookups.key()
        yield


@pytest.fixture
def unwritable(simulator: Simulator, settings: Settings, store: PresenceStore) -> Iterator[None]:
    """A store that holds a member of whom no event came for long, and takes no writes. There is a profile source."""
    settings.CHAT = replace(settings.CHAT, profile_url=f"{simulator.url}/profiles/{{id}}")
    simulator.add_member(ADA, user={"banner": HASH}, profile={"biography": "Analyst."})
    simulator.add_account(BEN)
    where = {"LOCATION": "unwritable"}
    backend = "django.core.cache.backends.locmem.LocMemCache"
    lookups.tell(store, touched=TEN_MINUTES)
    texts = caches["presence"].get_many(["alive", "complete", f"m:{ADA}"])
    with override_settings(CACHES={**configured.CACHES, "presence": {"BACKEND": backend, **where}}):
        caches["presence"].set_many(texts)
    backend = f"{__name__}.UnwritableCache"
    with override_settings(CACHES={**configured.CACHES, "presence": {"BACKEND": backend, **where}}):
        yield
        refreshing.settle()
        caches["presence"].clear()


def test_a_member_is_shown_by_a_store_that_takes_no_writes(unwritable: None, simulator: Simulator) -> None:
    for _ in range(2):
        answer = lookups.get(ADA)
        assert (answer.status, answer.body["banner"].endswith(f"/{HASH}.png")) == (200, True)
        assert answer.body["biography"] is None
        refreshing.settle()


def test_a_miss_that_cannot_be_stored_is_no_answer(unwritable: None, simulator: Simulator) -> None:
    assert [lookups.get(chat_id).whole for chat_id in (BEN, BEN + 1)] == [UNAVAILABLE] * 2
    assert len(simulator.counters.rest) == 2


@pytest.mark.usefixtures("simulator")
def test_while_the_limits_do_not_answer_the_platform_is_not_asked(settings: Settings, simulator: Simulator) -> None:
    settings.LIMIT_STORE = "infrastructure.limits.in_redis.RedisLimits"
    settings.CACHES = {**configured.CACHES, "default": UNREACHABLE}
    limits._store.cache_clear()
    with pytest.raises(RestUnavailable) as error:
        rest.membership(ADA)
    limits._store.cache_clear()
    assert (error.value.retry_after, simulator.counters.rest) == (1, [])


@pytest.mark.parametrize(
    ("miss", "error"), [("notMember", NotMember), ("notFound", ChatNotFound), ("", PresenceUnavailable)]
)
def test_without_a_call_a_miss_is_what_the_store_proves(
    store: PresenceStore, miss: str, error: type[Exception]
) -> None:
    lookups.alive(store)
    if miss:
        store.keep_miss(ADA, miss)
    with pytest.raises(error):
        members.shown(ADA, store.snapshot(ADA), timezone.now())


def test_calls_of_each_key_are_their_own_and_a_failed_one_leaves_nothing() -> None:
    flights: SingleFlight[str] = SingleFlight()

    def fail() -> str:
        raise KeyError("x")

    for _ in range(2):
        with pytest.raises(KeyError):
            flights.join(1, fail)
    assert [flights.join(1, lambda: "one"), flights.join(2, lambda: "two")] == ["one", "two"]
    assert flights._flying == {}
