"""Delivers what the outbox holds: one thread has the database, and as many threads as there are requests only send.

At least once: a worker that ends between a request and its record sends it again, with the same id.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.utils import timezone

from accounts.jobs import let_go_of_connections
from accounts.models import WebhookDelivery
from accounts.webhooks import attempts, claims
from accounts.webhooks.attempts import Request, Result

PLACES = 32  # requests that a worker has under way
KEPT_FOR_LOGOUTS = 8  # one part of so many: events leave it free
MOST_SLOW_APPS = 1000  # that a worker remembers
POLL_SECONDS = 0.25
TIDY_SECONDS = 1.0  # at least, between looks at what is due and cannot be sent
AFTER_ERROR_SECONDS = 5.0
END_SECONDS = 20.0  # longer than a request takes

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _UnderWay:
    """A request that a thread sends now. `is_hindered`: its receiver was slow or failing when it was claimed."""

    delivery: WebhookDelivery
    is_hindered: bool
    began_at: float = field(default_factory=time.monotonic)

    def takes_long(self) -> bool:
        return self.is_hindered or self.has_taken_long()

    def has_taken_long(self) -> bool:
        return time.monotonic() - self.began_at > attempts.SLOW


class Dispatcher:
    """Claims, sends and records; one thread at a time may call it. `places`: requests at once."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._under_way: dict[str, _UnderWay] = {}  # by message id
        self._answered: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._unrecorded: list[Result] = []
        self._slow_apps: dict[str, None] = {}  # whose last logout took long, or got no answer; the latest is last
        self._tidied_at = 0.0

    @property
    def under_way(self) -> int:
        """Return the number of attempts that have begun and are not recorded."""
        return len(self._under_way)

    def begin(self) -> bool:
        """Begin what is due, as far as there are places; return whether to look again. 1 query where nothing is due."""
        room = self._places - self.under_way
        if room <= 0 or not claims.is_any_due():
            return False
        under_way = [each for each in self._under_way.values() if each.delivery.endpoint is None]
        hindered = max(self._half // 2, 1) - sum(each.takes_long() for each in under_way)
        room_for_logouts = min(room, self._half - len(under_way))
        logouts = claims.take_logouts(room_for_logouts, hindered=hindered, slow=self._slow_apps)
        for delivery in logouts:
            self._begin_logout(delivery)
        room = self._places - self._places // KEPT_FOR_LOGOUTS - self.under_way
        long = sum(each.takes_long() for each in self._under_way.values())
        events = claims.take_events(room, hindered=self._half - long)
        for delivery in events:
            self._send(delivery, None)
        return bool(self._tidy() or logouts or events)

    def finish(self, seconds: float) -> None:
        """Wait up to `seconds` for an attempt to end, and record each that has ended."""
        with contextlib.suppress(queue.Empty):
            self._unrecorded.append(self._answered.get(timeout=seconds))
            while True:
                self._unrecorded.append(self._answered.get_nowait())
        if not self._unrecorded:
            return
        _record(self._unrecorded)
        for result in self._unrecorded:
            ended = self._under_way.pop(result.delivery.message_id, None)
            if ended is not None and result.delivery.endpoint_id is None:
                self._note_app(result.delivery.client_id, is_slow=ended.has_taken_long())
        self._unrecorded = []

    def give_back(self) -> None:
        """End the claims of what is still under way. It may arrive twice, with the same id."""
        claims.give_back([each.delivery for each in list(self._under_way.values())])

    @property
    def _half(self) -> int:
        return max(self._places // 2, 1)

    def _note_app(self, client_id: str, *, is_slow: bool) -> None:
        """Remember whether the last logout of an app took long: such apps share half of the places of logouts."""
        self._slow_apps.pop(client_id, None)
        if is_slow:
            self._slow_apps[client_id] = None
            if len(self._slow_apps) > MOST_SLOW_APPS:
                del self._slow_apps[next(iter(self._slow_apps))]

    def _begin_logout(self, delivery: WebhookDelivery) -> None:
        made = attempts.logout_request(delivery)
        if isinstance(made, Result):
            self._under_way[delivery.message_id] = _UnderWay(delivery, is_hindered=False)
            self._answered.put(made)
        else:
            self._send(delivery, made)

    def _send(self, delivery: WebhookDelivery, request: Request | None) -> None:
        """Start a thread for the request: it costs a tenth of a millisecond, and idle workers hold no threads."""

        def send() -> None:
            self._answered.put(attempts.sent(delivery, request))

        endpoint = delivery.endpoint
        if endpoint is None:
            is_hindered = delivery.client_id in self._slow_apps
        else:
            is_hindered = endpoint.is_slow or endpoint.failing_since is not None
        threading.Thread(target=send, name="delivery", daemon=True).start()
        self._under_way[delivery.message_id] = _UnderWay(delivery, is_hindered=is_hindered)

    def _tidy(self) -> bool:
        """Put away what is due and cannot be sent; return whether that may let something else be found."""
        if time.monotonic() - self._tidied_at < TIDY_SECONDS:
            return False
        self._tidied_at = time.monotonic()
        claims.finish_of_disabled()
        return claims.put_behind_retries() > 0


def _record(results: list[Result]) -> None:
    """Record results; one that cannot be recorded keeps no other one from it, and is sent again when its claim ends.

    Raises errors of the connection: the caller records them when the database is back.
    """
    try:
        attempts.record(results)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("The results of %s deliveries could not be recorded", len(results))
        for result in results if len(results) > 1 else []:
            _record([result])


class Worker(threading.Thread):
    """A thread that delivers as deliveries become due. It polls, as the worker for previews does."""

    def __init__(self, *, places: int = PLACES, is_asked_to_end: Callable[[], bool]) -> None:
        super().__init__(name="deliveries", daemon=True)
        self._is_asked_to_end = is_asked_to_end
        self._dispatcher = Dispatcher(places)

    def run(self) -> None:
        try:
            while not self._is_asked_to_end():
                self._take_turn()
            give_up_at = time.monotonic() + END_SECONDS
            while self._dispatcher.under_way and time.monotonic() < give_up_at:
                self._dispatcher.finish(POLL_SECONDS)
        finally:
            connections.close_all()

    def end(self, patience: float) -> None:
        """Wait `patience` seconds for what is under way, then give the rest back. Called from another thread."""
        self.join(patience)
        if self.is_alive():
            try:
                self._dispatcher.give_back()
            except DatabaseError:
                logger.exception("Deliveries could not be given back: their claims end by themselves")

    def _take_turn(self) -> None:
        try:
            self._dispatcher.begin()
            self._dispatcher.finish(POLL_SECONDS)
        except Exception:  # for example of the database: the thread goes on
            logger.exception("The worker for deliveries failed")
            time.sleep(AFTER_ERROR_SECONDS)
        finally:
            let_go_of_connections()


def deliver(*, until: datetime, after_each: Callable[[], None] = lambda: None, places: int = PLACES) -> int:
    """Deliver all that is due, and return the number of attempts; none begins after `until`.

    `after_each` is called each time that results were recorded, to renew a lease.
    """
    dispatcher, total = Dispatcher(places), 0
    try:
        while (timezone.now() < until and dispatcher.begin()) or dispatcher.under_way:
            before = dispatcher.under_way
            dispatcher.finish(POLL_SECONDS)
            total += before - dispatcher.under_way
            after_each()
    finally:
        let_go_of_connections()
        dispatcher.give_back()
    return total


def has_worker() -> bool:
    """Return whether a thread of this process delivers."""
    return any(isinstance(thread, Worker) for thread in threading.enumerate())
