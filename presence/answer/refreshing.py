"""What a read of presence renews: banner and profile after the answer, and the record by the worker.

No failure here fails the read: the old value stays. A read waits for the platform only where the store has no banner
that may be shown.

Biographies and further badges have a source of their own: none, or a server that speaks JSON over HTTP. The chat
platform gives them to no bot. A lawful source can be named in the settings.
"""

from __future__ import annotations

import contextlib
import logging
import math
import re
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from django.conf import settings
from django.db import connections

from infrastructure import http_client
from infrastructure.http_client import NoAnswer
from infrastructure.once import once
from presence.answer import rest
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


@once
def waits() -> threading.BoundedSemaphore:
    """Return the places of the process's threads that wait for the platform, half of them: the rest answer others."""
    return threading.BoundedSemaphore(max(settings.WEB_THREADS // 2, 1))


_banners: SingleFlight[Banner] = SingleFlight()
_lock = threading.Lock()
_pending: dict[str, dict[int, Future[None]]] = {"banner": {}, "profile": {}, "record": {}, "membership": {}}

logger = logging.getLogger(__name__)


def renewed(opened: PresenceStore, chat_id: int, snapshot: Snapshot, now: datetime) -> Snapshot:
    """Return `snapshot`, which has a record, with a fresh banner; read the other due parts in the background.

    The worker refetches a member without an event for long.
    """
    if _is_untouched(snapshot, now):
        _ask_for_record(opened, chat_id)
    _begin_profile(chat_id, snapshot.profile, now)
    banner = _banner(opened, chat_id, snapshot.banner, now)
    return snapshot if banner is snapshot.banner else replace(snapshot, banner=banner)


def begin(opened: PresenceStore, chat_id: int, snapshot: Snapshot, now: datetime) -> Future[None] | None:
    """Begin to renew what is due of `snapshot`, which has a record, all of it in the background.

    Return the read of the banner, if it has begun and there is none that may be shown.
    """
    if _is_untouched(snapshot, now):
        begin_one("record", chat_id, _ask_for_record, opened, chat_id)
    _begin_profile(chat_id, snapshot.profile, now)
    if not _is_banner_due(snapshot.banner, now):
        return None
    reading = begin_one("banner", chat_id, _read_banner, opened, chat_id, snapshot.banner, now)
    return reading if _banner_age(snapshot.banner, now) > BANNER_SHOWN else None


def _is_untouched(snapshot: Snapshot, now: datetime) -> bool:
    return snapshot.record is not None and _age(snapshot.record.touched_at, now) >= TOUCHED_MAX_AGE


def _ask_for_record(opened: PresenceStore, chat_id: int) -> None:
    try:
        opened.request_refresh(chat_id)
    except StoreUnavailable as error:
        logger.warning("A member could not be asked for: %s", error)


def _begin_profile(chat_id: int, profile: Profile | None, now: datetime) -> None:
    found = source()
    if found is not None and _is_due(profile, now) and not found.is_paused():
        begin_one("profile", chat_id, _renew_profile, found, chat_id, profile, now)


def settle() -> None:
    """Wait for the reads in the background."""
    with _lock:
        pending = [future for kind in _pending.values() for future in kind.values()]
    wait(pending)


def _banner(opened: PresenceStore, chat_id: int, known: Banner | None, now: datetime) -> Banner | None:
    """Return `known`, and read it again in the background where it is due; read it now where none may be shown, and
    fewer threads wait than may."""
    if not _is_banner_due(known, now):
        return known
    if _banner_age(known, now) > BANNER_SHOWN and waits().acquire(blocking=False):
        try:
            return _read_banner(opened, chat_id, known, now)
        finally:
            waits().release()
    begin_one("banner", chat_id, _read_banner, opened, chat_id, known, now)
    return known


def _is_banner_due(known: Banner | None, now: datetime) -> bool:
    return _banner_age(known, now) > BANNER_MAX_AGE and not (known is not None and _pause().seconds_left())


def _banner_age(known: Banner | None, now: datetime) -> float:
    return math.inf if known is None else abs(_age(known.read_at, now))


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


def begin_one(
    kind: str, chat_id: int, act: Callable[Parameters, object], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Future[None] | None:
    """Run `act` in the background, unless it is under way already; return the run. None where too many are."""

    def run() -> None:
        try:
            act(*args, **kwargs)
        except Exception:
            logger.exception("Reading a %s failed.", kind)
        finally:
            try:
                connections.close_all()
            finally:
                with _lock:
                    _pending[kind].pop(chat_id, None)

    pending = _pending[kind]
    with _lock:
        if chat_id not in pending and len(pending) < MOST_PENDING:
            with contextlib.suppress(RuntimeError):  # the process ends
                pending[chat_id] = _threads().submit(run)
        return pending.get(chat_id)


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


MAX_BIOGRAPHY = 4000  # characters
MAX_BADGES = 100
MAX_BADGE_ID = 100  # characters
_PARTS = ("user_profile", "user")  # where else the values may stand
_BIOGRAPHIES = ("biography", "bio", "about")
# Badges in several tiers, by the id that comes with a tier of its own.
_TIERED = {
    "guild_booster_lvl": "guild_booster_lvl{tier}",
    "guild_booster": "guild_booster_lvl{tier}",
    "premium_tenure": "premium_tenure_{tier}_month_v2",
    "bug_hunter_level": "bug_hunter_level_{tier}",
    "hypesquad_house": "hypesquad_house_{tier}",
}
_TIER = re.compile("[0-9]{1,3}")


class ProfileUnavailable(Exception):
    """The source has nothing of this account, or nothing that can be read."""


class SourcePaused(Exception):
    """The source fails and gets no requests for a while."""


class ProfileSource(Protocol):
    """Reads a biography, and the ids of badges as the platform's own clients show them."""

    def read(self, chat_id: int) -> Profile:
        """Read a profile, which may take seconds. Raises ProfileUnavailable, SourcePaused."""

    def is_paused(self) -> bool:
        """Return whether `read` would only raise SourcePaused."""


class HttpSource:
    """`url` with the id in place of `{id}`; `header`: `Name: value`, sent along, or nothing."""

    def __init__(self, url: str, header: str) -> None:
        self._url = url
        name, _, value = header.partition(":")
        self._headers = {"Accept": "application/json", "User-Agent": f"Presence (+{settings.BASE_URL})"}
        if name.strip():
            self._headers[name.strip()] = value.strip()
        self._circuit = Circuit()

    def is_paused(self) -> bool:
        return bool(self._circuit.seconds_left())

    def read(self, chat_id: int) -> Profile:
        if self._circuit.enter():
            raise SourcePaused
        try:
            answer = http_client.read("GET", self._url.replace("{id}", str(chat_id)), headers=self._headers)
        except NoAnswer as error:
            self._circuit.fail()
            raise ProfileUnavailable(str(error)) from error
        if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            self._circuit.succeed()
            raise ProfileUnavailable("The source does not know the account.")
        if answer.status != HTTPStatus.OK or not isinstance(answer.body, dict):
            self._circuit.fail()
            raise ProfileUnavailable(f"The source answered {answer.status}, or no object.")
        self._circuit.succeed()
        biography, badges = parsed(answer.body)
        return Profile(biography=biography, badges=badges, read_at=time.time(), is_failure=False)


def source() -> ProfileSource | None:
    """Return the source of the settings; None where there is none, and nothing is ever read."""
    chat = settings.CHAT
    return _http_source(chat.profile_url, chat.profile_header) if chat.profile_url else None


@once
def _http_source(url: str, header: str) -> HttpSource:
    return HttpSource(url, header)


def parsed(body: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...]]:
    """Return biography and badge ids of a JSON object (hence Any); values of another type count as absent."""
    parts = [body, *(part for name in _PARTS if isinstance(part := body.get(name), dict))]
    texts = (part.get(name) for part in parts for name in _BIOGRAPHIES)
    biography = next((text[:MAX_BIOGRAPHY] for text in texts if isinstance(text, str) and text.strip()), None)
    listed = next((found for part in parts if isinstance(found := part.get("badges"), list | dict)), [])
    ids = dict.fromkeys(found for found in _ids(listed) if 0 < len(found) <= MAX_BADGE_ID)
    return biography, tuple(ids)[:MAX_BADGES]


def _ids(listed: list[Any] | dict[str, Any]) -> Iterator[str]:
    """Yield the badges of an array, or of an object by id, where `false` and null are badges that are not held."""
    pairs: Iterator[tuple[str, Any]]
    if isinstance(listed, list):
        pairs = (("", badge) for badge in listed)
    else:
        pairs = ((name, badge) for name, badge in listed.items() if badge is not None and badge is not False)
    for name, badge in pairs:
        plain, tier = _id_and_tier(name, badge)
        yield _TIERED[plain].format(tier=tier) if tier is not None and plain in _TIERED else plain


def _id_and_tier(name: str, badge: Any) -> tuple[str, int | None]:
    """Return id and tier of a badge. `name`: the key that `badge` stands under, empty in an array."""
    if isinstance(badge, dict):
        return _text(badge.get("id")) or name, _tier(badge.get("tier", badge.get("level")))
    return (name, _tier(badge)) if name else (_text(badge), None)


def _tier(value: object) -> int | None:
    said = _text(value)
    return int(said) if _TIER.fullmatch(said) else None


def _text(value: object) -> str:
    """Return a string or a whole number as text; empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else ""
