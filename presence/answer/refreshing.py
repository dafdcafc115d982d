"""What a read of presence renews: banner and profile after the answer, and the record by the worker.

No failure here fails the read: the old value stays. A read waits for the platform only where the store has no banner
that may be shown.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from typing import Generic, ParamSpec, TypeVar

from django.db import connections

from infrastructure.once import once
from presence.answer import profiles, rest
from presence.answer.profiles import ProfileSource, ProfileUnavailable, SourcePaused
from presence.answer.rest import Circuit, RestUnavailable
from presence.store import store
from presence.store.store import Banner, PresenceStore, Profile, Snapshot, StoreUnavailable

# Ages in seconds.
BANNER_MAX_AGE = 30.0  # then it is read again
BANNER_SHOWN = 3600.0  # and shown until then; an older one counts as absent
PROFILE_MAX_AGE = 86_400.0
FAILURE_MAX_AGE = 3600
TOUCHED_MAX_AGE = 600.0  # in very large chat servers some members' events never arrive
THREADS = 4
MOST_PENDING = 32  # of each kind; further ones are left to the next read

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Makes concurrent calls for one key one call, whose result all callers share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flying: dict[Hashable, Future[Result]] = {}

    def join(self, key: Hashable, call: Callable[[], Result]) -> Result:
        """Return or raise the result of `call()`, or that of the call for `key` that is under way."""
        with self._lock:
            flight = self._flying.get(key)
            is_ours = flight is None
            if flight is None:
                flight = self._flying[key] = Future()
        if not is_ours:
            return flight.result()
        try:
            flight.set_result(call())
        except BaseException as error:  # every caller gets it
            flight.set_exception(error)
        finally:
            with self._lock:
                del self._flying[key]
        return flight.result()


_banners: SingleFlight[Banner] = SingleFlight()
_lock = threading.Lock()
_pending: dict[str, dict[int, Future[None]]] = {"banner": {}, "profile": {}}

logger = logging.getLogger(__name__)


def renewed(opened: PresenceStore, chat_id: int, snapshot: Snapshot, now: datetime) -> Snapshot:
    """Return `snapshot`, which has a record, with a fresh banner; read the other due parts in the background.

    The worker refetches a member without an event for long.
    """
    record, profile = snapshot.record, snapshot.profile
    if record is not None and _age(record.touched_at, now) >= TOUCHED_MAX_AGE:
        try:
            opened.request_refresh(chat_id)
        except StoreUnavailable as error:
            logger.warning("A member could not be asked for: %s", error)
    source = profiles.source()
    if source is not None and _is_due(profile, now) and not source.is_paused():
        _begin("profile", chat_id, _renew_profile, source, chat_id, profile, now)
    banner = _banner(opened, chat_id, snapshot.banner, now)
    return snapshot if banner is snapshot.banner else replace(snapshot, banner=banner)


def settle() -> None:
    """Wait for the reads in the background."""
    with _lock:
        pending = [future for kind in _pending.values() for future in kind.values()]
    wait(pending)


def _banner(opened: PresenceStore, chat_id: int, known: Banner | None, now: datetime) -> Banner | None:
    """Return `known`, and read it again in the background where it is due; read it now where none may be shown."""
    age = math.inf if known is None else abs(_age(known.read_at, now))
    if age <= BANNER_MAX_AGE or (known is not None and _pause().seconds_left()):
        return known
    if age > BANNER_SHOWN:
        return _read_banner(opened, chat_id, known, now)
    _begin("banner", chat_id, _read_banner, opened, chat_id, known, now)
    return known


def _read_banner(opened: PresenceStore, chat_id: int, known: Banner | None, now: datetime) -> Banner | None:
    """Return the banner that the platform has; `known` where it must not be asked for a while."""

    def read() -> Banner:
        banner = Banner(rest.banner(chat_id), now.timestamp())
        try:
            opened.keep_banner(chat_id, banner)
        except StoreUnavailable as error:
            logger.warning("A banner was not kept: %s", error)
        return banner

    try:
        return _banners.join(chat_id, read)
    except RestUnavailable as error:
        logger.info("The banner of %s stays as it was: %s", chat_id, error)
        _pause().pause(error.retry_after)
        return known


@once
def _pause() -> Circuit:
    """Open while no banner can be read."""
    return Circuit()


def _begin(
    kind: str, chat_id: int, act: Callable[Parameters, object], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> None:
    """Run `act` in the background, unless it is under way already or too many are."""

    def run() -> None:
        try:
            act(*args, **kwargs)
        except Exception:
            logger.exception("Reading a %s failed.", kind)
        finally:
            connections.close_all()
            with _lock:
                _pending[kind].pop(chat_id, None)

    pending = _pending[kind]
    with _lock:
        if chat_id in pending or len(pending) >= MOST_PENDING:
            return
        with contextlib.suppress(RuntimeError):  # the process ends
            pending[chat_id] = _threads().submit(run)


def _is_due(known: Profile | None, now: datetime) -> bool:
    if known is None:
        return True
    return abs(_age(known.read_at, now)) >= (FAILURE_MAX_AGE if known.is_failure else PROFILE_MAX_AGE)


def _renew_profile(source: ProfileSource, chat_id: int, known: Profile | None, now: datetime) -> None:
    """Read the profile, in one process an hour. A failure leaves the known value in the store."""
    opened, turn = store.opened(), f"profile:{chat_id}"
    if not opened.claim(turn, FAILURE_MAX_AGE):
        return
    try:
        read = source.read(chat_id)
    except SourcePaused:
        opened.release_claim(turn)
        return
    except ProfileUnavailable as error:
        logger.warning("The profile of %s could not be read: %s", chat_id, error)
        if known is not None and not known.is_failure:
            return
        read = Profile(biography=None, badges=(), read_at=now.timestamp(), is_failure=True)
    try:
        opened.keep_profile(chat_id, read)
    except StoreUnavailable as error:
        logger.warning("A profile was not kept: %s", error)


@once
def _threads() -> ThreadPoolExecutor:
    """Return the threads, made at the first use, after a server has forked."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="presence-renewing")


def _age(at: float, now: datetime) -> float:
    """Return the seconds since `at`, UNIX seconds from a store that may hold anything."""
    try:
        return now.timestamp() - at
    except OverflowError:
        return math.inf
