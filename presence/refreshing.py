"""What a read of presence renews: the banner at once, the profile after the answer, and the record by the worker.

None of it can fail a read: what cannot be renewed stays as it was.
"""

from __future__ import annotations

import functools
import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import connections

from presence import profiles, rest, store, turns
from presence.flights import Flights
from presence.profiles import ProfileSource, ProfileUnavailable, SourcePaused
from presence.rest import RestUnavailable
from presence.store import Banner, Glance, PresenceStore, Profile, Record, StoreUnavailable

BANNER_LIFETIME = timedelta(seconds=30)
PROFILE_LIFETIME = timedelta(hours=24)
FAILURE_LIFETIME = timedelta(hours=1)
TOUCHED_LIFETIME = timedelta(minutes=10)  # in very large chat servers some members' events never arrive
THREADS = 4
MOST_PENDING = 32  # profiles; who comes on top of them is read at the next occasion

_banners: Flights[Banner] = Flights()
_lock = threading.Lock()
_pending: dict[int, Future[None]] = {}

logger = logging.getLogger(__name__)


def renewed(opened: PresenceStore, chat_id: int, glance: Glance, now: datetime) -> Glance:
    """`glance`, which has a record, with a fresh banner; what else is due is on its way."""
    if glance.record is not None:
        _record(opened, chat_id, glance.record, now)
    _profile(chat_id, glance.profile, now)
    return replace(glance, banner=_banner(opened, chat_id, glance.banner, now))


def settle() -> None:
    """Wait until every profile that is due has been read, or could not be."""
    with _lock:
        pending = list(_pending.values())
    wait(pending)


def _banner(opened: PresenceStore, chat_id: int, known: Banner | None, now: datetime) -> Banner | None:
    """A banner that is at most 30 s old, or else `known`, where the platform does not tell."""
    if known is not None and abs(_age(known.read_at, now)) <= BANNER_LIFETIME:
        return known
    try:
        return _banners.join(chat_id, lambda: _read_banner(opened, chat_id, now))
    except RestUnavailable as error:
        logger.info("The banner of %s stays as it was: %s", chat_id, error)
        return known


def _read_banner(opened: PresenceStore, chat_id: int, now: datetime) -> Banner:
    read = Banner(rest.banner(chat_id), now.timestamp())
    try:
        opened.keep_banner(chat_id, read)
    except StoreUnavailable as error:
        logger.warning("A banner was not kept: %s", error)
    return read


def _record(opened: PresenceStore, chat_id: int, known: Record, now: datetime) -> None:
    """Ask the worker to look up a member of whom no event has told for long."""
    if _age(known.touched_at, now) < TOUCHED_LIFETIME:
        return
    try:
        opened.ask(chat_id)
    except StoreUnavailable as error:
        logger.warning("A member could not be asked for: %s", error)


def _profile(chat_id: int, known: Profile | None, now: datetime) -> None:
    """Have the profile read by a thread of its own, where it is due: nobody waits for that."""
    source = profiles.source()
    if source is None or not _is_due(known, now) or source.is_paused():
        return
    with _lock:
        if chat_id in _pending or len(_pending) >= MOST_PENDING:
            return
        try:
            future = _pending[chat_id] = _threads().submit(_renew, source, chat_id, known, now)
        except RuntimeError:  # the process is about to end
            return
    future.add_done_callback(functools.partial(_end, chat_id))


def _is_due(known: Profile | None, now: datetime) -> bool:
    if known is None:
        return True
    return abs(_age(known.read_at, now)) >= (FAILURE_LIFETIME if known.is_failure else PROFILE_LIFETIME)


def _renew(source: ProfileSource, chat_id: int, known: Profile | None, now: datetime) -> None:
    """Among all processes one tries in an hour. A value that was read stays for as long as the store keeps it."""
    turn = f"profile:{chat_id}"
    try:
        if not turns.take(turn, int(FAILURE_LIFETIME.total_seconds())):
            return
        try:
            read = source.read(chat_id)
        except SourcePaused:
            turns.end(turn)
            return
        except ProfileUnavailable as error:
            logger.warning("The profile of %s could not be read: %s", chat_id, error)
            if known is not None and not known.is_failure:
                return
            read = Profile(biography=None, badges=(), read_at=now.timestamp(), is_failure=True)
        store.opened().keep_profile(chat_id, read)
    except StoreUnavailable as error:
        logger.warning("A profile was not kept: %s", error)
    finally:
        connections.close_all()


def _end(chat_id: int, future: Future[None]) -> None:
    with _lock:
        _pending.pop(chat_id, None)
    if error := future.exception():
        logger.error("Reading a profile failed.", exc_info=error)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    """Made at the first use: a process that forks has none yet."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="presence-profiles")


def _age(at: float, now: datetime) -> timedelta:
    """Of what happened at `at`, UNIX seconds from a store that may hold anything."""
    try:
        return timedelta(seconds=now.timestamp() - at)
    except OverflowError:
        return timedelta.max
