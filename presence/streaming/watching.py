"""Wakes the event streams of this process: one thread reads the store for all of them together.

It starts with the first stream and ends after the last one.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
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

    `news`: the newest; None until the first look. `is_over`: no more will come. `lacks_banner`: the store has no banner
    of the member.
    """

    chat_id: int
    listener: weakref.WeakMethod[Callable[[], None]]
    news: News | None = None
    is_over: bool = False
    lacks_banner: bool = False

    def ring(self) -> None:
        listener = self.listener()
        if listener is not None:
            listener()


@dataclass(slots=True)
class _Known:
    """The result of the last look at an id, so that only changes are serialized."""

    news: News | None = None
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


class Hub:
    """All watches of this process. `opened` makes the store, in the thread that uses it."""

    def __init__(self, opened: Callable[[], PresenceStore]) -> None:
        self._opened = opened
        self._changed = threading.Condition()
        self._watches: set[Watch] = set()
        self._known: dict[int, _Known] = {}
        self._thread: threading.Thread | None = None
        self._is_answered = True
        self.is_leaving: Callable[[], bool] = lambda: False  # whether the server is about to stop: all streams end

    def join(self, chat_id: int, ring: Callable[[], None]) -> Watch:
        """Watch a member until `leave`. `ring` is a method that must not block; the watch ends, too, when its object is
        garbage-collected.
        """
        watch = Watch(chat_id, weakref.WeakMethod(ring))
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
        """Read all watched ids in one round trip, and wake the streams with news."""
        with self._changed:
            self._watches = {watch for watch in self._watches if watch.listener() is not None}
            watches = list(self._watches)  # a stream that joins during the look has read newer values
        ids = sorted({watch.chat_id for watch in watches})
        snapshots = self._snapshots(opened, ids)
        self._known = {chat_id: self._look_at(chat_id, snapshots.get(chat_id), now) for chat_id in ids}
        for watch in watches:
            known = self._known[watch.chat_id]
            watch.lacks_banner = known.lacks_banner
            if watch.news is not known.news:
                watch.news = known.news
                watch.ring()

    def _snapshots(self, opened: PresenceStore, ids: list[int]) -> dict[int, Snapshot]:
        """Return the snapshots; empty where the store does not answer."""
        try:
            found = opened.snapshots(ids)
            for chat_id, snapshot in found.items():
                if snapshot.record is None and not snapshot.miss:
                    opened.request_refresh(chat_id)  # the worker writes the record again, or that the member has left
        except StoreUnavailable as error:
            if self._is_answered:
                logger.warning("The presence store does not answer the event streams: %s", error)
            self._is_answered = False
            return {}
        self._is_answered = True
        return found

    def _look_at(self, chat_id: int, snapshot: Snapshot | None, now: datetime) -> _Known:
        before = self._known.get(chat_id) or _Known()
        banner = (snapshot.banner if snapshot else None) or before.banner
        presence: Presence | None = None
        try:
            if snapshot is None:
                raise PresenceUnavailable
            members.require_public(snapshot)
            presence = members.shown(chat_id, replace(snapshot, banner=banner), now)  # shown until it is read again
        except PresenceUnavailable as error:
            news = of_error(UNAVAILABLE, error)
        except (NotMember, ChatNotFound, ProfilePrivate) as error:
            news = of_error(GONE, error)
        else:
            news = before.news if before.news and before.presence == presence else of_presence(presence)
        lacks_banner = snapshot is not None and snapshot.banner is None
        return _Known(before.news if before.news == news else news, presence, banner, lacks_banner)

    def _run(self) -> None:
        try:
            opened = self._opened()
            while self._goes_on():
                self.look(opened, timezone.now())
                with self._changed:
                    if self._watches:
                        self._changed.wait(PAUSE)
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
