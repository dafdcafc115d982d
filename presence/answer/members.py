"""The presence of a member as readers see it: one read of the store, and without a record one call to the platform.

Membership is never guessed, and an unknown presence is never shown as offline.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple, ParamSpec, TypeVar

from django.conf import settings

from infrastructure.requests.api_json import json_bytes, utf8
from infrastructure.requests.request_context import Prefetch
from infrastructure.settings_cache import from_settings
from lookup.errors import ProfilePrivate
from presence import fields
from presence.answer import presentation, privacy, refreshing, rest
from presence.answer.presentation import Presence
from presence.answer.refreshing import SingleFlight
from presence.answer.rest import Membership, RestUnavailable
from presence.answer.serializers import PresenceSerializer
from presence.errors import ChatIdInvalid, ChatNotFound, NotMember, PresenceUnavailable
from presence.store import store
from presence.store.store import BANNER, PresenceStore, Snapshot, StoreUnavailable

STALE_AFTER = timedelta(seconds=60)
EPOCH = 1_420_070_400_000  # milliseconds: the platform's ids count from here
FUTURE = timedelta(minutes=1)  # how far the platform's clock may be ahead of ours
TURN_SECONDS = 10  # what a call to the platform may take
PATIENCE, PAUSE = 1.0, 0.05  # seconds: how long a reader waits for another process, and how often it looks
ANSWERS_KEPT = 8192  # members; some 3 kB each
ID = "[0-9]{17,19}"
_ID = re.compile(ID)

P = ParamSpec("P")
R = TypeVar("R")
_SERIALIZER = PresenceSerializer()

_lookups: SingleFlight[Snapshot] = SingleFlight()


class _Answer(NamedTuple):
    """The last answer for a member. `source`: what it follows from, the store's values without stamp and banner, and
    settings. `banner`: as the store holds it. `snapshot`: without the record's payloads."""

    source: tuple[object, ...]
    banner: object
    snapshot: Snapshot
    body: bytes


_answers: dict[int, _Answer] = {}
_keeping = threading.Lock()
logger = logging.getLogger(__name__)


def _outages_as_503(read: Callable[P, R]) -> Callable[P, R]:
    """Decorator that raises PresenceUnavailable for a store that does not answer."""

    @functools.wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return read(*args, **kwargs)
        except StoreUnavailable as error:
            logger.warning("The presence store does not answer: %s", error)
            raise PresenceUnavailable from error

    return reading


def check(chat_id: str) -> int:
    """Return the number of a well-formed id. ChatIdInvalid for anything but 17 to 19 ASCII digits."""
    if not _ID.fullmatch(chat_id):
        raise ChatIdInvalid
    return int(chat_id)


def possible(chat_id: str, now: datetime) -> int:
    """Return the number of an id. Raises ChatIdInvalid; ChatNotFound where the platform has not issued it by `now`."""
    number = check(chat_id)
    latest = now.timestamp() + FUTURE.total_seconds()
    if chat_id.startswith("0") or number > fields.MAX_ID or _issued_at(number) > latest:
        raise ChatNotFound
    return number


@_outages_as_503
def presence_of(chat_id: str, now: datetime) -> Presence:
    """Return the presence of a member. One round trip, and more for parts that are due.

    Raises ChatIdInvalid, ChatNotFound, NotMember, ProfilePrivate; PresenceUnavailable: the store is stale or away.
    """
    number, opened = possible(chat_id, now), store.opened()
    return shown(number, _seen(opened, number, opened.snapshot(number), now), now)


@_outages_as_503
def snapshots_of(chat_ids: Sequence[int], now: datetime) -> dict[int, Snapshot]:
    """Return what the store has of these members, whatever it is. 1 round trip; the platform is not asked.

    Raises PresenceUnavailable: the store is stale or away.
    """
    opened = store.opened()
    found = opened.snapshots(chat_ids)
    _require_fresh(found[chat_ids[0]].alive_at if chat_ids else opened.alive_at(), now)
    return found


def prefetch(chat_id: str) -> Prefetch | None:
    """Return the read of the member that `body_of` needs, where the check of an API key can send it along."""
    return store.opened().prefetch(int(chat_id))


@_outages_as_503
def body_of(chat_id: str, now: datetime, read: Sequence[Any] | None = None) -> bytes:
    """Return the presence as the JSON of the answer. Raises what `presence_of` raises. `read`: the reply to `prefetch`.

    An unchanged member has an unchanged answer; whether it may be shown is checked each time.
    """
    number, opened = possible(chat_id, now), store.opened()
    values = tuple(read) if read else opened.values(number)
    if known := _known(opened, number, values):
        _require_fresh(opened.stamp_of(values), now)
        if refreshing.renewed(opened, number, known.snapshot, now) is known.snapshot:
            return known.body
    first = opened.snapshot_of(number, values)
    snapshot = _seen(opened, number, first, now)
    if snapshot is first:  # else `values` lack what was read since
        return _rendered(number, values, snapshot)
    return body(_presented(number, snapshot))


@_outages_as_503
def bodies_of(chat_ids: Sequence[str], now: datetime, *, lookups: int) -> list[bytes]:
    """Return for each id the JSON that `body_of` returns, or the body of the error that it raises. 1 round trip.

    What the store lacks is read in the background, and waited for PATIENCE seconds at most, then 1 round trip more:
    banners, and which of the first `lookups` ids without a record are members. Further ones are PresenceUnavailable, as
    is what has not come by then. Raises ChatIdInvalid; PresenceUnavailable: the store is stale or away.
    """
    opened = store.opened()
    found: dict[str, bytes] = {}
    numbers: dict[str, int] = {}
    for chat_id in dict.fromkeys(chat_ids):
        try:
            numbers[chat_id] = possible(chat_id, now)
        except ChatNotFound as error:
            found[chat_id] = json_bytes(error.body())
    read = opened.values_of(list(numbers.values())) if numbers else {}
    for values in islice(read.values(), 1):  # the stamp is the same in all of them
        _require_fresh(opened.stamp_of(values), now)
    if awaited := _begin(opened, read, now, lookups):
        wait(awaited.values(), timeout=PATIENCE)
        read |= opened.values_of(list(awaited))
    found |= {chat_id: _element(opened, number, read[number]) for chat_id, number in numbers.items()}
    return [found[chat_id] for chat_id in chat_ids]


def _begin(
    opened: PresenceStore, read: Mapping[int, tuple[Any, ...]], now: datetime, lookups: int
) -> dict[int, Future[None]]:
    """Begin to read what is due of these members; return, by id, what is worth waiting for."""
    awaited: dict[int, Future[None] | None] = {}
    for number, values in read.items():
        known = _known(opened, number, values)
        snapshot = known.snapshot if known else opened.snapshot_of(number, values)
        if snapshot.record is not None and not snapshot.is_private:
            awaited[number] = refreshing.begin(opened, number, snapshot, now)
        elif snapshot.record is None and not (snapshot.miss or snapshot.is_private) and lookups > 0:
            lookups -= 1
            awaited[number] = refreshing.begin_one("membership", number, _learn, opened, number, now)
    return {number: reading for number, reading in awaited.items() if reading is not None}


def _learn(opened: PresenceStore, number: int, now: datetime) -> None:
    """Look the account up, and leave in the store what the platform said."""
    with contextlib.suppress(NotMember, ChatNotFound, ProfilePrivate, PresenceUnavailable):
        _lookups.join(number, lambda: _looked_up(opened, number, now))


def _element(opened: PresenceStore, number: int, values: tuple[Any, ...]) -> bytes:
    """Return the presence that the values of a fresh store say, or the body of the error that they prove."""
    if known := _known(opened, number, values):
        return known.body
    snapshot = opened.snapshot_of(number, values)
    try:
        require_public(snapshot)
        return _rendered(number, values, snapshot)
    except (NotMember, ChatNotFound, ProfilePrivate, PresenceUnavailable) as error:
        return json_bytes(error.body())


def _rendered(number: int, values: tuple[Any, ...], snapshot: Snapshot) -> bytes:
    """Return the presence that `values` hold, and keep it. Raises what `_presented` raises."""
    answer = body(_presented(number, snapshot))
    if snapshot.record:
        light = replace(snapshot, record=replace(snapshot.record, member={}, presence=None))
        _keep(number, _Answer(_source(values), values[BANNER], light, answer))
    return answer


def _known(opened: PresenceStore, number: int, values: tuple[Any, ...]) -> _Answer | None:
    """Return the last answer for the member, if it follows from `values`."""
    known = _answers.get(number)
    return _with_banner(opened, number, known, values) if known and known.source == _source(values) else None


def _source(values: tuple[Any, ...]) -> tuple[object, ...]:
    """Return what an answer follows from, besides stamp and banner."""
    return *values[1:BANNER], *values[BANNER + 1 :], _shown_with()


def _with_banner(opened: PresenceStore, number: int, known: _Answer, values: tuple[Any, ...]) -> _Answer | None:
    """Return `known`, with the time at which the same banner was read again; None where the banner is another one."""
    if known.banner == values[BANNER]:
        return known
    before, banner = known.snapshot.banner, opened.banner_of(values)
    if before is None or banner is None or before.hash != banner.hash:
        return None
    known = known._replace(banner=values[BANNER], snapshot=replace(known.snapshot, banner=banner))
    _keep(number, known)
    return known


def _keep(number: int, answer: _Answer) -> None:
    """Keep the answer, in place of the oldest one where there are ANSWERS_KEPT."""
    with _keeping:
        if number not in _answers and len(_answers) >= ANSWERS_KEPT:
            del _answers[next(iter(_answers))]
        _answers[number] = answer


@from_settings
def _shown_with() -> tuple[object, ...]:
    return settings.ASSET_URL, settings.CHAT_CDN_URL, settings.CHAT


def body(presence: Presence) -> bytes:
    """Return the JSON of a presence."""
    return utf8(_SERIALIZER.to_json(presence))


def _seen(opened: PresenceStore, number: int, snapshot: Snapshot, now: datetime) -> Snapshot:
    """Return `snapshot`, completed by what is due. Raises as `presence_of`."""
    _require_fresh(snapshot.alive_at, now)
    if snapshot.record is None:
        raise_if_missing(snapshot)
        snapshot = _lookups.join(number, lambda: _waited_for(opened, number, now))
    require_public(snapshot)
    return refreshing.renewed(opened, number, snapshot, now)


def _waited_for(opened: PresenceStore, number: int, now: datetime) -> Snapshot:
    """Look the account up in this thread; the threads that ask for the same one meanwhile take no place. Raises as
    `presence_of`; PresenceUnavailable where too many threads wait."""
    if not refreshing.waits().acquire(blocking=False):
        raise PresenceUnavailable(retry_after=1)
    try:
        return _looked_up(opened, number, now)
    finally:
        refreshing.waits().release()


def shown(chat_id: int, snapshot: Snapshot, now: datetime) -> Presence:
    """Return the presence, which may be private, only from the store.

    Raises NotMember, ChatNotFound or ProfilePrivate where the store proves them, else PresenceUnavailable.
    """
    _require_fresh(snapshot.alive_at, now)
    return _presented(chat_id, snapshot)


def _presented(chat_id: int, snapshot: Snapshot) -> Presence:
    """Return the presence from a store that is fresh. Raises the error that the store proves."""
    record, profile = snapshot.record, snapshot.profile
    if record is None:
        raise_if_missing(snapshot)
        raise PresenceUnavailable
    return presentation.of(
        chat_id=chat_id,
        member=record.member,
        presence=record.presence,
        last_online=record.last_online,
        # Until REST has answered, that of the gateway, which may leave it out.
        banner=snapshot.banner.hash if snapshot.banner else fields.mapping(record.member.get("user")).get("banner"),
        biography=profile.biography if profile else None,
        profile_badges=profile.badges if profile else (),
    )


def _issued_at(chat_id: int) -> float:
    """Return when the id was issued, in UNIX seconds."""
    return ((chat_id >> 22) + EPOCH) / 1000


def _require_fresh(alive_at: float | None, now: datetime) -> None:
    if not is_fresh(alive_at, now):
        raise PresenceUnavailable


def is_fresh(alive_at: float | None, now: datetime) -> bool:
    """Return whether readers trust a stamp. One from the future counts as old: a clock is wrong."""
    return alive_at is not None and abs(now.timestamp() - alive_at) < STALE_AFTER.total_seconds()


def require_public(snapshot: Snapshot) -> None:
    """Raise ProfilePrivate for a private presence."""
    if snapshot.is_private:
        raise ProfilePrivate


def raise_if_missing(snapshot: Snapshot) -> None:
    """Raise the error that the store proves, or ProfilePrivate."""
    require_public(snapshot)
    if snapshot.miss == Membership.NOT_FOUND.value:
        raise ChatNotFound
    if snapshot.miss == Membership.NOT_MEMBER.value:
        raise NotMember


def _looked_up(opened: PresenceStore, chat_id: int, now: datetime) -> Snapshot:
    """Look the account up, or wait for the process that does. Raises the error that store or platform prove."""
    turn = f"membership:{chat_id}"
    if not opened.claim(turn, TURN_SECONDS):
        return _awaited(opened, chat_id)
    try:
        snapshot = opened.snapshot(chat_id)  # the process before may have written it
        if snapshot.record is not None:
            return snapshot
        raise_if_missing(snapshot)
        return _asked(opened, chat_id, now)
    finally:
        opened.release_claim(turn)


def _asked(opened: PresenceStore, chat_id: int, now: datetime) -> Snapshot:
    """Ask the platform and keep its answer. A member without a record is refetched, and waited for."""
    if privacy.is_private(chat_id):
        opened.keep_miss(chat_id, "private")
        raise ProfilePrivate
    try:
        membership = rest.membership(chat_id)
    except RestUnavailable as error:
        logger.info("Whether %s is a member is not known: %s", chat_id, error)
        raise PresenceUnavailable(retry_after=error.retry_after) from error
    if membership is Membership.MEMBER:
        opened.request_refresh(chat_id)
        return _awaited(opened, chat_id)
    if membership is Membership.NOT_FOUND:
        if _issued_at(chat_id) < now.timestamp() - FUTURE.total_seconds():  # a later id may still be issued
            opened.keep_miss(chat_id, membership.value)
        raise ChatNotFound
    opened.keep_miss(chat_id, membership.value)
    raise NotMember


def _awaited(opened: PresenceStore, chat_id: int) -> Snapshot:
    """Wait for the record that another process writes. Raises the error that the store then proves."""
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        time.sleep(PAUSE)
        snapshot = opened.snapshot(chat_id)
        if snapshot.record is not None:
            return snapshot
        raise_if_missing(snapshot)
    raise PresenceUnavailable(retry_after=1)
