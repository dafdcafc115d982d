"""The one look at the store for all event streams of a process, and the thread that looks."""

from __future__ import annotations

import gc
import json
import queue
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from presence.store.store import Banner, PresenceStore, Snapshot, StoreUnavailable
from presence.streaming import watching
from presence.streaming.watching import Hub, Watch
from tests.presence import lookups, store_contents
from tests.presence.lookups import ADA, BEN, NOT_MEMBER, ONLINE, PRIVATE, UNAVAILABLE

IDLE = {**ONLINE, "client_status": {"desktop": "idle"}}
PATIENCE = 10  # seconds


class Unlooked(Hub):
    """Looks when the test says so: no thread."""

    def _run(self) -> None:
        """At once at its end."""


class Listener:
    """A watching stream. `events`: the news at each ring."""

    def __init__(self, hub: Hub, chat_id: int) -> None:
        self.events: list[tuple[str, Any]] = []
        self.chat_id = chat_id
        self.watch: Watch = hub.join([chat_id], self._ring)

    def _ring(self) -> None:
        news = self.watch.news[self.chat_id]
        self.events.append((news.event, json.loads(news.body)))

    @property
    def statuses(self) -> list[str]:
        return [body["status"]["status"] for event, body in self.events if event == watching.PRESENCE]


class CountingStore:
    """Counts the round trips to a store."""

    def __init__(self, store: PresenceStore) -> None:
        self.store = store
        self.asked: list[list[int]] = []
        self.is_down = False

    def snapshots(self, chat_ids: Sequence[int]) -> dict[int, Snapshot]:
        self.asked.append(list(chat_ids))
        if self.is_down:
            raise StoreUnavailable("It is down.")
        return self.store.snapshots(chat_ids)


@pytest.fixture
def hub() -> Hub:
    return Unlooked(_no_store)


def _no_store() -> PresenceStore:
    raise AssertionError("No test opens a store here.")


def _look(hub: Hub, store: Any) -> None:
    hub.look(store, timezone.now())


@pytest.mark.django_db
def test_all_streams_are_notified_by_one_round_trip_and_only_of_changes(hub: Hub, store: PresenceStore) -> None:
    counting = CountingStore(store)
    lookups.tell(store)
    lookups.tell(store, BEN, presence=IDLE)
    first, second, ben = Listener(hub, ADA), Listener(hub, ADA), Listener(hub, BEN)
    for _ in range(3):
        _look(hub, counting)
    lookups.tell(store, presence=IDLE)
    _look(hub, counting)
    assert counting.asked == [[ADA, BEN]] * 4
    assert [first.statuses, second.statuses, ben.statuses] == [["online", "idle"], ["online", "idle"], ["idle"]]


@pytest.mark.django_db
def test_who_is_dropped_hears_nothing_and_is_asked_for_no_more(hub: Hub, store: PresenceStore) -> None:
    counting = CountingStore(store)
    lookups.tell(store)
    stays, dropped = Listener(hub, ADA), Listener(hub, BEN)
    watch = dropped.watch
    del dropped
    gc.collect()
    _look(hub, counting)
    assert (counting.asked, stays.statuses, watch.news) == ([[ADA]], ["online"], {})


@pytest.mark.django_db
def test_a_store_that_does_not_answer_is_a_feed_that_is_stale(hub: Hub, store: PresenceStore) -> None:
    counting = CountingStore(store)
    lookups.tell(store)
    listener = Listener(hub, ADA)
    for is_down in (False, True, True, False):
        counting.is_down = is_down
        _look(hub, counting)
    assert [event for event, _ in listener.events] == ["presence", "unavailable", "presence"]
    assert listener.events[1] == ("unavailable", UNAVAILABLE[1])
    assert listener.events[0] == listener.events[2]


@pytest.mark.django_db
def test_a_feed_is_stale_at_60_seconds(hub: Hub, store: PresenceStore) -> None:
    lookups.tell(store)
    now = timezone.now()
    lookups.alive(store, now)
    listener = Listener(hub, ADA)
    for seconds in (59, 60):
        hub.look(store, now + timedelta(seconds=seconds))
    assert [event for event, _ in listener.events] == ["presence", "unavailable"]


@pytest.mark.django_db
def test_who_left_is_gone_while_the_feed_is_true(hub: Hub, store: PresenceStore) -> None:
    lookups.tell(store)
    listener = Listener(hub, ADA)
    _look(hub, store)
    store.keep_departures([ADA], token=store_contents.token_of(store))
    store_contents.write(store, {}, [ADA])
    lookups.alive(store, timezone.now() - timedelta(seconds=60))
    _look(hub, store)
    lookups.alive(store)
    _look(hub, store)
    assert listener.events[1:] == [("unavailable", UNAVAILABLE[1]), ("gone", NOT_MEMBER[1])]


@pytest.mark.django_db
def test_who_became_private_is_gone(hub: Hub, store: PresenceStore) -> None:
    lookups.tell(store)
    listener = Listener(hub, ADA)
    _look(hub, store)
    store.keep_privacy(ADA, is_private=True)
    _look(hub, store)
    assert listener.events[1:] == [("gone", PRIVATE[1])]


@pytest.mark.django_db
def test_who_has_no_record_is_asked_for_and_is_not_gone(hub: Hub, store: PresenceStore) -> None:
    """A server that is short of memory evicts records."""
    lookups.tell(store)
    listener = Listener(hub, ADA)
    _look(hub, store)
    store_contents.write(store, {}, [ADA])
    _look(hub, store)
    lookups.tell(store)
    _look(hub, store)
    assert [event for event, _ in listener.events] == ["presence", "unavailable", "presence"]
    assert store.pending_refreshes(0)[0] == [ADA]


@pytest.mark.django_db
def test_a_banner_that_is_to_be_read_again_is_shown_until_it_is(hub: Hub, store: PresenceStore) -> None:
    lookups.tell(store)
    store.keep_banner(ADA, Banner("a" * 32, timezone.now().timestamp()))
    listener, lacks = Listener(hub, ADA), []
    changes: list[Callable[[], None]] = [
        lambda: None,
        lambda: store_contents.drop_banner(store, ADA),
        lambda: store.keep_banner(ADA, Banner(None, timezone.now().timestamp())),
    ]
    for change in changes:
        change()
        _look(hub, store)
        lacks.append(ADA in listener.watch.without_banner)
    assert lacks == [False, True, False]
    banners = [body["banner"] for _, body in listener.events]
    assert [banner is not None for banner in banners] == [True, False]


@pytest.mark.django_db(transaction=True)
def test_the_thread_starts_with_the_first_stream_and_ends_with_the_last(store: PresenceStore) -> None:
    hub, rings = Hub(lambda: store), threading.Semaphore(0)
    lookups.tell(store)
    for _ in range(2):
        first, second = (hub.join([ADA], rings.release) for _ in range(2))
        thread = hub.thread()
        assert thread is not None
        assert rings.acquire(timeout=PATIENCE)
        assert rings.acquire(timeout=PATIENCE)
        hub.leave(first)
        assert thread.is_alive()
        hub.leave(second)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_streams_end_when_the_server_is_about_to_stop() -> None:
    rung = threading.Event()
    hub = Hub(_never_asked)
    hub.is_leaving = lambda: True
    watch = hub.join([ADA], rung.set)
    assert rung.wait(PATIENCE)
    assert watch.is_over


def test_streams_end_where_the_thread_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    threads: list[threading.Thread] = []

    def fail() -> PresenceStore:
        threads.append(threading.current_thread())
        raise LookupError

    rung = threading.Event()
    hub = Hub(fail)
    watch = hub.join([ADA], rung.set)
    assert rung.wait(PATIENCE)
    threads[0].join(PATIENCE)
    assert (watch.is_over, hub.thread()) == (True, None)
    assert [failure.exc_type for failure in raised] == [LookupError]


def test_the_thread_leaves_no_connection_open_however_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: queue.Queue[threading.Thread] = queue.Queue()

    class Connections:
        def close_all(self) -> None:
            closed.put(threading.current_thread())

    def fail() -> PresenceStore:
        raise LookupError

    monkeypatch.setattr(watching, "connections", Connections())
    monkeypatch.setattr(threading, "excepthook", lambda failure: None)
    for opened in (_never_asked, fail):
        hub = Hub(opened)
        hub.is_leaving = lambda: True
        rung = threading.Event()
        hub.join([ADA], rung.set)
        thread = closed.get(timeout=PATIENCE)
        thread.join(PATIENCE)
        assert thread.name == "presence-streams"


def _never_asked() -> PresenceStore:
    return PresenceStore(None)  # type: ignore[arg-type]  # it is not asked
