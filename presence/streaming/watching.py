"""Wakes the event streams of this process: one thread reads the store for all of them together.

It starts with the first stream and ends after the last one.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import connections
from django.utils import timezone

from infrastructure.requests.api_json import json_bytes
from infrastructure.requests.errors import ApiError
from lookup.errors import ProfilePrivate
from presence.answer import members
from presence.answer.presentation import Presence
from presence.errors import ChatNotFound, NotMember, PresenceUnavailable
from presence.store import store
from presence.store.store import Banner, PresenceStore, Snapshot, StoreUnavailable

PAUSE = 0.5  # seconds between two looks
LONGEST_SHARE = 4  # the pause is at least so many times the last look: the thread takes a fifth of a core at most
READ_AT_ONCE = 500  # ids, five values each: more in one command would keep the store from its other clients
ASKS_AT_ONCE = 10  # members without a record that one look asks the worker for, each once in ASK_AGAIN
ASK_AGAIN = 30.0  # seconds
PRESENCE, UNAVAILABLE, GONE = "presence", "unavailable", "gone"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class News:
    """An event of a stream. `event`: PRESENCE, UNAVAILABLE or GONE, for example. `body`: JSON on one line. `tag`: its
    digest.
    """

    event: str
    body: bytes
    tag: str


@dataclass(eq=False, slots=True)
class Watch:
    """The watch of one stream. `listener` is called from another thread whenever `news` or `is_over` have changed.

    `news`: the newest by member, empty until the first look; it is replaced, never changed. `is_over`: no more will
    come. `without_banner`: the members whose banner the store lacks.
    """

    chat_ids: tuple[int, ...]
    listener: weakref.WeakMethod[Callable[[], None]]
    news: Mapping[int, News] = field(default_factory=dict)
    is_over: bool = False
    without_banner: frozenset[int] = frozenset()

    def ring(self) -> None:
        listener = self.listener()
        if listener is not None:
            listener()


@dataclass(slots=True)
class _Known:
    """The result of the last look at an id, so that only changes are serialized."""

    news: News
    presence: Presence | None = None
    banner: Banner | None = None
    lacks_banner: bool = False


def of_presence(presence: Presence) -> News:
    """Return the event with the body of the lookup's answer."""
    return _news(PRESENCE, members.body(presence))


def of_error(event: str, error: ApiError) -> News:
    """Return the event with the body of the error's answer."""
    return _news(event, json_bytes(error.body()))


def _news(event: str, body: bytes) -> News:
    return News(event, body, hashlib.sha256(body).hexdigest()[:16])


def newest(
    chat_id: int, snapshot: Snapshot | None, now: datetime, *, before: tuple[News, Presence | None] | None = None
) -> tuple[News, Presence | None]:
    """Return what the store says of a member, and the presence if it shows one. `before`: what this returned last,
    which is returned again where nothing has changed."""
    presence: Presence | None = None
    try:
        if snapshot is None:
            raise PresenceUnavailable
        members.require_public(snapshot)
        presence = members.shown(chat_id, snapshot, now)
    except PresenceUnavailable as error:
        news = of_error(UNAVAILABLE, error)
    except (NotMember, ChatNotFound, ProfilePrivate) as error:
        news = of_error(GONE, error)
    else:
        if before and before[1] == presence:
            return before[0], presence
        news = of_presence(presence)
    return (before[0] if before and before[0] == news else news), presence


def first_news(chat_ids: Sequence[str], now: datetime) -> tuple[dict[int, News], list[int]]:
    """Return the first news of many members, in this order, and those whose ids no account can have. 1 round trip.

    Raises ChatIdInvalid; PresenceUnavailable: the store is stale or away.
    """
    impossible: dict[int, News] = {}
    for chat_id in chat_ids:
        try:
            members.possible(chat_id, now)
        except ChatNotFound as error:
            impossible[int(chat_id)] = of_error(GONE, error)
    ids = dict.fromkeys(int(chat_id) for chat_id in chat_ids)
    found = members.snapshots_of([chat_id for chat_id in ids if chat_id not in impossible], now)
    told = {
        chat_id: impossible[chat_id] if chat_id in impossible else newest(chat_id, found[chat_id], now)[0]
        for chat_id in ids
    }
    return told, list(impossible)


class Hub:
    """All watches of this process. `opened` makes the store, in the thread that uses it."""

    def __init__(self, opened: Callable[[], PresenceStore]) -> None:
        self._opened = opened
        self._changed = threading.Condition()
        self._watches: set[Watch] = set()
        self._known: dict[int, _Known] = {}
        self._asked: dict[int, float] = {}  # members that the worker was asked for -> when, by the monotonic clock
        self._thread: threading.Thread | None = None
        self._is_answered = True
        self.is_leaving: Callable[[], bool] = lambda: False  # whether the server is about to stop: all streams end

    def join(self, chat_ids: Iterable[int], ring: Callable[[], None]) -> Watch:
        """Watch members until `leave`. `ring` is a method that must not block; the watch ends, too, when its object is
        garbage-collected.
        """
        watch = Watch(tuple(chat_ids), weakref.WeakMethod(ring))
        with self._changed:
            self._watches.add(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="presence-streams", daemon=True)
                self._thread.start()
        return watch

    def leave(self, watch: Watch) -> None:
        """Stop watching. Idempotent."""
        with self._changed:
            self._watches.discard(watch)
            if not self._watches:
                self._changed.notify_all()

    def thread(self) -> threading.Thread | None:
        """Return the watching thread; None without watches."""
        return self._thread

    def look(self, opened: PresenceStore, now: datetime) -> None:
        """Read all watched ids, READ_AT_ONCE of them in one round trip, and wake the streams with news."""
        with self._changed:
            self._watches = {watch for watch in self._watches if watch.listener() is not None}
            watches = list(self._watches)  # a stream that joins during the look has read newer values
        ids = sorted({chat_id for watch in watches for chat_id in watch.chat_ids})
        snapshots = self._snapshots(opened, ids)
        self._known = {chat_id: self._look_at(chat_id, snapshots.get(chat_id), now) for chat_id in ids}
        for watch in watches:
            self._pass_on(watch)

    def _pass_on(self, watch: Watch) -> None:
        """Give the stream its news, and wake it where there are some."""
        known = [(chat_id, self._known[chat_id]) for chat_id in watch.chat_ids]
        watch.without_banner = frozenset(chat_id for chat_id, each in known if each.lacks_banner)
        if any(watch.news.get(chat_id) is not each.news for chat_id, each in known):
            watch.news = {chat_id: each.news for chat_id, each in known}
            watch.ring()

    def _snapshots(self, opened: PresenceStore, ids: Sequence[int]) -> dict[int, Snapshot]:
        """Return the snapshots; those that were not read are left out where the store does not answer."""
        found: dict[int, Snapshot] = {}
        try:
            for start in range(0, len(ids), READ_AT_ONCE):
                found |= opened.snapshots(ids[start : start + READ_AT_ONCE])
            self._ask_for_records(opened, found)
        except StoreUnavailable as error:
            if self._is_answered:
                logger.warning("The presence store does not answer the event streams: %s", error)
            self._is_answered = False
            return found
        self._is_answered = True
        return found

    def _ask_for_records(self, opened: PresenceStore, found: Mapping[int, Snapshot]) -> None:
        """Ask the worker for members without a record: it writes the record again, or that the member has left.

        A few at each look: the ids of a stream are whatever its caller sends.
        """
        now = time.monotonic()
        self._asked = {chat_id: at for chat_id, at in self._asked.items() if now - at < ASK_AGAIN}
        missing = (chat_id for chat_id, each in found.items() if each.record is None and not each.miss)
        for chat_id in itertools.islice((each for each in missing if each not in self._asked), ASKS_AT_ONCE):
            self._asked[chat_id] = now
            opened.request_refresh(chat_id)

    def _look_at(self, chat_id: int, snapshot: Snapshot | None, now: datetime) -> _Known:
        before = self._known.get(chat_id)
        banner = (snapshot.banner if snapshot else None) or (before.banner if before else None)
        lacks_banner = snapshot is not None and snapshot.banner is None
        shown = replace(snapshot, banner=banner) if snapshot is not None else None  # until it is read again
        news, presence = newest(chat_id, shown, now, before=(before.news, before.presence) if before else None)
        return _Known(news, presence, banner, lacks_banner)

    def _run(self) -> None:
        try:
            opened = self._opened()
            while self._goes_on():
                began = time.thread_time()
                self.look(opened, timezone.now())
                pause = max(PAUSE, LONGEST_SHARE * (time.thread_time() - began))
                with self._changed:
                    if self._watches:
                        self._changed.wait(pause)
        finally:
            self._end()
            connections.close_all()

    def _goes_on(self) -> bool:
        """Return whether the thread goes on: it has watches and the server is not stopping."""
        with self._changed:
            if not self._watches:
                self._thread = None
        return self._thread is not None and not self.is_leaving()

    def _end(self) -> None:
        """End the streams of this thread, however it ends."""
        with self._changed:
            if self._thread is not threading.current_thread():
                return
            over, self._watches, self._thread = self._watches, set(), None
        for watch in over:
            watch.is_over = True
            watch.ring()


hub = Hub(store.opened)
