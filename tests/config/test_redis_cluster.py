"""The service on a real Redis Cluster: what is counted is exact, keys are followed, and a failover is survived."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from django.core.cache import cache, caches
from django.test import Client
from django.utils import timezone
from django_redis import get_redis_connection
from django_redis.exceptions import ConnectionInterrupted
from pytest_django import Settings
from redis.exceptions import RedisError

from accounts import limits
from accounts.databases import redis_clients, redis_connection
from accounts.limits import Limit, LimitsUnavailable, Window
from accounts.limits.redis_limits import RedisLimits
from accounts.models import Permission
from accounts.sessions import SessionStore
from config import stores
from lookup import visits
from lookup.models import UserDocument
from lookup.redis_visits import COUNTS, RedisVisits
from lookup.visit_days import Click
from lookup.visitors import Visitor
from presence.store import LeaseLost, PresenceStore, StoreUnavailable
from presence.streaming.stream_slots import StreamSlot
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.lookup.visiting import view_of
from tests.presence import kept
from tests.support import redis_cluster as support
from tests.support.redis_cluster import Cluster
from tests.support.threads import together

pytestmark = [pytest.mark.live, pytest.mark.django_db]

LIMIT_KEY = "{limit}:a"
FAILOVER_SECONDS = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with support.running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Cluster]:
    """Another cluster, for a test that ends nodes."""
    with support.running(tmp_path) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def service(request: pytest.FixtureRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process, with REDIS_CLUSTER on and the test's cluster."""
    name = "doomed" if "doomed" in request.fixturenames else "cluster"
    cluster: Cluster = request.getfixturevalue(name)
    monkeypatch.setenv("REDIS_CLUSTER", "1")
    settings.CACHES = stores.caches(cluster.url, stores.redis_options())
    settings.LIMIT_STORE, settings.VISIT_STORE = "accounts.limits.redis_limits.RedisLimits", "lookup.visits.RedisVisits"
    settings.PRESENCE_STREAMS = 10
    for kept_one in (limits._store, visits._store):
        kept_one.cache_clear()
    get_redis_connection("default").flushall()
    yield
    for kept_one in (limits._store, visits._store):
        kept_one.cache_clear()
    redis_clients._clients.clear()


def window(amount: int, key: str = "a") -> Window:
    return Window(key, Limit("any", amount, "requests of this test"))


def test_the_hot_keys_lie_on_the_nodes_that_their_tags_name(cluster: Cluster) -> None:
    RedisLimits().hit([window(5)])
    cache.set("one", 1)
    PresenceStore(caches["presence"]).keep_stats({})
    for key in (LIMIT_KEY, "cache:1:one", "{chat}:1:stats"):
        assert cluster.client(cluster.primary_of(key)).exists(key) == 1, key


class TestLimits:
    def test_they_are_exact_from_several_threads(self) -> None:
        store = RedisLimits()
        passed = together(8, lambda _: sum(store.hit([window(50)]) == 0 for _ in range(20)))
        assert sum(passed) == 50
        assert RedisLimits().peek(window(50)) > 0

    def test_several_windows_are_one_step(self) -> None:
        store = RedisLimits()
        assert [store.hit([window(3, "a"), window(2, "b")]) > 0 for _ in range(4)] == [False, False, True, True]
        assert store.hit([window(3, "a")]) == 0

    def test_a_key_is_checked_counted_and_revoked(self, client: Client) -> None:
        user = UserFactory(username="Ada")
        key = ApiKeyFactory(owner=user, secret="of-ada", permissions=[Permission.LOOKUP_USER.value])
        assert [_looked_up(client, "of-ada"), _looked_up(client, "of-ada")] == [200, 200]
        assert _looked_up(client, "not-a-key") == 401
        limits.forget_keys([key.secret_hash])
        assert _looked_up(client, "of-ada") == 200
        names = [name for number in range(3) for name in cluster_keys(number)]
        assert any(name.startswith("{limit}:record-1:") for name in names)

    def test_marks_of_revoked_keys_are_one_pipeline(self) -> None:
        store = RedisLimits()
        store.forget_keys(["a", "b", "c"])
        assert get_redis_connection("default").get("{limit}:record-1:b") == b"forgotten"


def cluster_keys(number: int) -> list[str]:
    nodes = sorted(get_redis_connection("default").get_primaries(), key=lambda node: node.port)
    return [key.decode() for key in get_redis_connection("default").get_redis_connection(nodes[number]).keys("*")]


def _looked_up(client: Client, secret: str) -> int:
    return client.get("/api/lookup/user?type=username&value=ada", headers={"X-API-Key": secret}).status_code


class TestCacheAndSessions:
    def test_values_lie_on_all_nodes(self) -> None:
        for number in range(50):
            cache.set(f"name-{number}", number)
        assert [cache.get(f"name-{number}") for number in range(50)] == list(range(50))
        assert all(cluster_keys(number) for number in range(3))
        assert cache.add("name-1", 9) is False
        cache.delete("name-1")
        assert cache.get("name-1") is None
        cache.clear()
        assert cache.get("name-2") is None

    def test_a_session_is_read_from_the_cluster_and_ends_there(self) -> None:
        session = SessionStore()
        session["who"] = "Ada"
        session.save()
        assert SessionStore(session.session_key)["who"] == "Ada"
        assert cache.get(session.cache_key) is not None
        session.delete()
        assert cache.get(f"{session.cache_key_prefix}{session.session_key}") is None


class TestVisits:
    def test_a_visitor_counts_once_and_the_job_adds_it(self) -> None:
        user = UserFactory()
        store = RedisVisits()
        now = timezone.now()
        visitors = [Visitor(f"192.0.2.{number}", "Firefox") for number in (1, 1, 2)]
        assert [store.count_view(visitor, view_of(user.pk), now) for visitor in visitors] == [True, False, True]
        store.count_click(Click("a link that is gone", now.date()))
        assert (store.fold(now).views, store.fold(now).views) == (2, 0)
        assert UserDocument.objects.get(pk=user.pk).views == 2
        assert get_redis_connection("default").exists(COUNTS) == 0


class TestPresence:
    def test_a_dump_is_written_under_the_lease_and_read_in_one_round_trip(self) -> None:
        store = PresenceStore(caches["presence"])
        assert store.take_lease("mine") is True
        assert store.take_lease("other") is False
        ids = range(10**17, 10**17 + 3000)
        store.write({one: kept.record(one).to_text() for one in ids}, [ids[0] - 1], token="mine", mark="m")
        store.set_complete(1, token="mine")
        assert store.stamp(time.time(), generation=1, token="mine", mark="m") is True
        assert len(store.texts(ids)) == 3000
        assert store.snapshot(ids[5]).record is not None
        with pytest.raises(LeaseLost):
            store.write({}, [ids[0]], token="other")
        assert (store.renew_lease("mine"), store.renew_lease("other")) == (True, False)
        store.release_lease("mine")
        assert store.take_lease("other") is True

    def test_readers_ask_for_members_and_streams_have_slots(self) -> None:
        store = PresenceStore(caches["presence"])
        store.request_refresh(10**17)
        store.request_refresh(10**17)
        assert store.pending_refreshes(0)[0] == [10**17]
        slot = StreamSlot(7)
        assert slot.keep() is True
        slot.close()

    def test_what_a_key_check_brings_along_elsewhere_is_asked_for_apart(self) -> None:
        """Limits and presence lie in different slots."""
        store = PresenceStore(caches["presence"])
        assert store.reading(10**17) is None
        assert store.eviction() == ""


class TestMovedKeys:
    def test_a_slot_that_moves_is_followed_and_counts_go_with_it(self, cluster: Cluster) -> None:
        store = RedisLimits()
        assert [store.hit([window(4)]) for _ in range(2)] == [0, 0]
        source = cluster.primary_of(LIMIT_KEY)
        target = (source + 1) % support.PRIMARIES
        cluster.begin_to_move(LIMIT_KEY, target)
        assert store.hit([window(4)]) == 0  # still there
        assert store.hit([window(1, "new")]) == 0  # ASK: it is made at the target
        cluster.end_move(LIMIT_KEY, target)
        assert cluster.primary_of(LIMIT_KEY) == target
        assert [store.hit([window(4)]) > 0 for _ in range(3)] == [False, True, True]  # MOVED
        assert store.hit([window(1, "new")]) > 0

    def test_a_script_that_the_new_node_does_not_know_is_loaded_there(self, cluster: Cluster) -> None:
        echo = redis_connection.Script("return {KEYS[1], ARGV[1]}")
        over = redis_connection.opened("default")
        for key in ("a", "b", "c", "d"):  # on all nodes
            assert over.script(echo, [key], ["v"]) == [key.encode(), b"v"]


class TestFailover:
    def test_a_replica_takes_over_with_what_was_counted(self, doomed: Cluster) -> None:
        store, presence = RedisLimits(), PresenceStore(caches["presence"])
        assert [store.hit([window(3)]) for _ in range(2)] == [0, 0]
        lost = doomed.primary_of(LIMIT_KEY)
        assert doomed.client(lost).execute_command("WAIT", 1, 5000) == 1  # the replica has the counts
        doomed.kill(lost)
        left = until_answered(lambda: [store.hit([window(3)]), store.hit([window(3)])])
        assert left[0] == 0
        assert left[1] > 0
        assert doomed.primary_of(LIMIT_KEY) != lost
        until_answered(lambda: cache.set("after", 1))
        until_answered(lambda: presence.keep_stats({"a": 1}))
        assert cache.get("after") == 1
        assert presence.stats() == {"a": 1}


Answer = TypeVar("Answer")


def until_answered(act: Callable[[], Answer]) -> Answer:
    """What `act` answers once it fails no more: meanwhile it says that Redis does not answer, as in any outage."""
    give_up_at = time.monotonic() + FAILOVER_SECONDS
    while True:
        try:
            return act()
        except (LimitsUnavailable, StoreUnavailable, ConnectionInterrupted, RedisError):
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)
