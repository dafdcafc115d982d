"""The store of live presence: the worker writes it in batches, and readers read it in one round trip.

A cache holds it (`caches`: Redis or the database); each failure of the cache is StoreUnavailable. Records of
members who left need no list of keys: each record carries the generation of its dump, and `complete` names the
generation that was written whole. An older record counts as absent. Absence proves nothing: that an account is no
member is a value of its own, which is kept for a short time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, cast

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache

from infrastructure.requests.request_context import Prefetch
from infrastructure.settings_cache import from_settings
from presence.fields import Json
from presence.store import records
from presence.store.caches import DAMAGED, LeaseLost, StoreCache, StoreUnavailable, answering
from presence.store.records import Banner, Profile, Record, Snapshot, Stamp

__all__ = [
    "Banner",
    "LeaseLost",
    "PresenceStore",
    "Profile",
    "Record",
    "Snapshot",
    "StoreState",
    "StoreUnavailable",
    "opened",
]

# Seconds. A record is rewritten at least once a day, by the daily reconcile.
RECORD_LIFETIME = 3 * 86400
BANNER_LIFETIME = 86400
PROFILE_LIFETIME = 7 * 86400
MISS_LIFETIMES = {"notMember": 600, "private": 600, "notFound": 86400}  # or until the record of who joined is written
STATS_LIFETIME = 86400
PRIVACY_LIFETIME = 600  # no less than a miss: it replaces one that was kept before the change
ASK_PAUSE = 30
ASK_LIFETIME = 60
ASK_AWAITED = 5  # a reader has taken its number, and is about to write its slot
LEASE_SECONDS = 5.0  # after a crash, this long until another worker may write

READ_AT_ONCE = 1000  # ids
WRITTEN_AT_ONCE = 4000  # keys, two for each record; more would delay other clients, or outlast the socket's timeout
ASKS_READ, ASKS_AWAITED = 1000, 64

ALIVE, COMPLETE, MARK, STATS, LAST_ASK, LEASE = "alive", "complete", "mark", "stats", "ask:last", "lease"
STATE = (ALIVE, COMPLETE)
_KINDS = ("m", "banner", "profile", "miss", "privacy")  # of the values of one id
BANNER = 3  # its place in the answer of `PresenceStore.values`
Item = TypeVar("Item")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoreState:
    """The store as the last writer left it. `generation`: the completed one, 0 for none. `alive_at`: of its last stamp,
    if any. `mark`: of the last write, "" for none."""

    generation: int
    alive_at: float | None
    mark: str


class PresenceStore:
    """Times are UNIX seconds; chat ids are numbers. `token`: of the worker's term (`presence.worker.lease`).

    A write with the token of a term that is over raises LeaseLost and changes nothing.
    """

    def __init__(self, cache: BaseCache) -> None:
        self._cache = cast("StoreCache", cache)
        # Numbers of asks that had no slot yet -> until when, by the monotonic clock.
        self._awaited: dict[int, float] = {}
        # The last values of STATE that `stamp_of` has read, and their stamp.
        self._stamp: tuple[Sequence[Any], float | None] = (), None

    # --- Readers ---

    def snapshot(self, chat_id: int) -> Snapshot:
        """Return all values of one id, in one round trip."""
        return self.snapshots([chat_id])[chat_id]

    def snapshots(self, chat_ids: Sequence[int]) -> dict[int, Snapshot]:
        """Return the snapshots of these ids, by id, in one round trip."""
        found = self._read([*STATE, *(name for chat_id in chat_ids for name in _names(chat_id))])
        generation, alive_at = _generation(found), _alive_at(found)
        return {chat_id: _snapshot(chat_id, found, generation, alive_at) for chat_id in chat_ids}

    def prefetch(self, chat_id: int) -> Prefetch | None:
        """Return the read of `values`, where the check of an API key can send it along."""
        return self._cache.prefetch([*STATE, *_names(chat_id)])

    def values(self, chat_id: int) -> tuple[Any, ...]:
        """Return the values of one id as the cache holds them, the stamp first. 1 round trip."""
        with answering():
            return tuple(self._cache.raw([*STATE, *_names(chat_id)]))

    def values_of(self, chat_ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
        """Return what `values` returns of each id, by id. 1 round trip."""
        with answering():
            read = self._cache.raw([*STATE, *(name for chat_id in chat_ids for name in _names(chat_id))])
        state, each = tuple(read[: len(STATE)]), iter(read[len(STATE) :])
        return {chat_id: (*state, *islice(each, len(_KINDS))) for chat_id in chat_ids}

    def snapshot_of(self, chat_id: int, values: Sequence[Any]) -> Snapshot:
        """Return the snapshot that the answer of `values` holds. 1 round trip where a value is damaged."""
        try:
            found = self._cache.decoded([*STATE, *_names(chat_id)], values)
        except DAMAGED:
            return self.snapshot(chat_id)
        return _snapshot(chat_id, found, _generation(found), _alive_at(found))

    def stamp_of(self, values: Sequence[Any]) -> float | None:
        """Return `alive_at` of the answer of `values`; None where it is damaged. Between two stamps all are alike."""
        state = values[: len(STATE)]
        known, alive_at = self._stamp
        if known != state:
            try:
                alive_at = _alive_at(self._cache.decoded(STATE, state))
            except DAMAGED:
                alive_at = None
            self._stamp = state, alive_at
        return alive_at

    def banner_of(self, values: Sequence[Any]) -> Banner | None:
        """Return the banner of the answer of `values`; None where there is none, or a damaged one."""
        try:
            found = self._cache.decoded(["banner"], [values[BANNER]])
        except DAMAGED:
            return None
        return Banner.from_text(found.get("banner"))

    def alive_at(self) -> float | None:
        """When the worker last stamped the store as up to date; None where it did not, or the store was emptied."""
        return _alive_at(self._read([ALIVE, COMPLETE]))

    def request_refresh(self, chat_id: int) -> None:
        """Ask the worker to refetch this member; once for each id in 30 s."""
        with answering():
            if self._cache.add(f"asked:{chat_id}", 1, ASK_PAUSE):
                self._set(f"ask:{self._next_request()}", chat_id, ASK_LIFETIME)

    def keep_banner(self, chat_id: int, banner: Banner) -> None:
        self._set(f"banner:{chat_id}", banner.to_text(), BANNER_LIFETIME)

    def keep_profile(self, chat_id: int, profile: Profile) -> None:
        self._set(f"profile:{chat_id}", profile.to_text(), PROFILE_LIFETIME)

    def keep_miss(self, chat_id: int, miss: str) -> None:
        """Keep a miss: "notMember" or "private" for 10 min, "notFound" for 24 h."""
        self._set(f"miss:{chat_id}", miss, MISS_LIFETIMES[miss])

    def keep_privacy(self, chat_id: int, *, is_private: bool) -> None:
        """Note a change of privacy for 10 min. A record that says "private" outranks a note that says "public"."""
        self._set(f"privacy:{chat_id}", int(is_private), PRIVACY_LIFETIME)

    def stats(self) -> Json | None:
        """Return the worker's last statistics."""
        return records.object_of(self._read([STATS]).get(STATS), "stats")

    # --- The worker ---

    def write(self, texts: Mapping[int, str], removed: Collection[int], *, token: str, mark: str = "") -> None:
        """Keep these records (`Record.to_text`) and delete the `removed`. After an error all of it may be retried.

        A record and the deletion of the miss that was kept before the member joined are one step. `mark`: a unique name
        of this write. It comes last, in one transaction with the last records: a store that fell back to an earlier
        state shows another one.
        """
        values = {f"m:{chat_id}": text for chat_id, text in texts.items()} | ({MARK: mark} if mark else {})
        names = [f"m:{chat_id}" for chat_id in removed]
        names += [f"{kind}:{chat_id}" for chat_id in texts for kind in ("miss", "m")]
        names += [MARK] if mark else []
        for some in _batches(names, WRITTEN_AT_ONCE):
            kept = {name: values[name] for name in some if name in values}
            self._write_as(token, kept, [name for name in some if name not in values], RECORD_LIFETIME)

    def drop_banners(self, chat_ids: Collection[int], *, token: str) -> None:
        """Delete the banners of these members, which may have changed."""
        self._write_as(token, {}, [f"banner:{chat_id}" for chat_id in chat_ids], None)

    def keep_departures(self, chat_ids: Collection[int], *, token: str) -> None:
        """Note members whose departure the platform has just reported."""
        misses = {f"miss:{chat_id}": "notMember" for chat_id in chat_ids}
        self._write_as(token, misses, [], MISS_LIFETIMES["notMember"])

    def state(self) -> StoreState:
        """Return the state of the store. One round trip."""
        found = self._read([ALIVE, COMPLETE, MARK])
        return StoreState(_generation(found), _alive_at(found), _mark(found))

    def mark(self) -> str:
        """Return the mark of the last write that had one; "" for none."""
        return _mark(self._read([MARK]))

    def stamp(self, alive_at: float, *, generation: int, token: str, mark: str = "") -> bool:
        """Note that the store was up to date at `alive_at`.

        Return False, with nothing changed, where another generation is the completed one, or the last write is not that
        of `mark`: the store came back with an older snapshot.

        Read and write are two steps. A store that is emptied between them has no lease, and refuses the write.
        """
        found = self._read([COMPLETE, MARK])
        if _generation(found) != generation or not generation or (mark and _mark(found) != mark):
            return False
        self._write_as(token, {ALIVE: Stamp(alive_at, generation).to_text()}, [], None)
        return True

    def generation(self) -> int:
        """Return the completed generation; 0 where there is none."""
        return _generation(self._read([COMPLETE]))

    def set_complete(self, generation: int, *, token: str) -> None:
        """Declare this generation complete; older records count as absent from now on."""
        self._write_as(token, {COMPLETE: generation}, [], None)

    def texts(self, chat_ids: Sequence[int]) -> dict[int, str]:
        """Return the records of these members as text, of any generation, as a new leader reads all members."""
        all_of_them: dict[int, str] = {}
        for ids in _batches(chat_ids, READ_AT_ONCE):
            found = self._read([f"m:{chat_id}" for chat_id in ids])
            read = ((chat_id, found.get(f"m:{chat_id}")) for chat_id in ids)
            all_of_them.update((chat_id, text) for chat_id, text in read if isinstance(text, str))
        return all_of_them

    def pending_refreshes(self, since: int) -> tuple[list[int], int]:
        """Return the ids asked for after position `since` (0 at first), oldest first, and the new position."""
        last = self._read([LAST_ASK]).get(LAST_ASK)
        if not isinstance(last, int):
            return [], since
        newest = last - ASKS_READ + 1
        first = newest if since > last else max(since + 1, newest)  # the store was emptied and the clock set back
        now = time.monotonic()
        numbers = [*self._pending(now), *range(first, last + 1)]
        found = self._read([f"ask:{number}" for number in numbers])
        for number in numbers:
            if f"ask:{number}" in found:
                self._awaited.pop(number, None)
            elif number > last - ASKS_AWAITED:
                self._awaited.setdefault(number, now + ASK_AWAITED)
        ids = (found.get(f"ask:{number}") for number in numbers)
        return list(dict.fromkeys(chat_id for chat_id in ids if isinstance(chat_id, int))), last

    def clear_expired(self, after_batch: Callable[[], None] = lambda: None) -> int:
        """Delete what has expired, where the cache does not do so by itself. Return how many entries."""
        with answering():
            return self._cache.clear_expired(after_batch)

    def keep_stats(self, stats: Json) -> None:
        """Keep the worker's statistics for the admin."""
        self._set(STATS, records.text_of(stats), STATS_LIFETIME)

    # --- The lease, and claims ---

    def take_lease(self, token: str) -> bool:
        """Begin a term where no other one runs."""
        with answering():
            return self._cache.take(LEASE, token, LEASE_SECONDS)

    def renew_lease(self, token: str) -> bool:
        """Return whether the term goes on, for LEASE_SECONDS from now."""
        with answering():
            return self._cache.renew(LEASE, token, LEASE_SECONDS)

    def release_lease(self, token: str) -> None:
        with answering():
            self._cache.release(LEASE, token)

    def eviction(self) -> str:
        """Return the policy under which the server may evict records; "" where it never does."""
        with answering():
            return self._cache.eviction()

    def claim(self, name: str, seconds: int) -> bool:
        """Return whether this process sends the request `name`, once in `seconds`, to an outside server.

        It saves calls and is no lock: where the store does not answer, every process may send the request.
        """
        try:
            with answering():
                return bool(self._cache.add(f"turn:{name}", 1, seconds))
        except StoreUnavailable as error:
            logger.warning("The presence store does not answer for the request %s: %s", name, error)
            return True

    def release_claim(self, name: str) -> None:
        try:
            with answering():
                self._cache.delete(f"turn:{name}")
        except StoreUnavailable as error:
            logger.warning("The presence store keeps the claim on %s until it expires: %s", name, error)

    # --- The cache ---

    def _read(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the values of these keys, by one `get_many`. An unreadable value is logged and deleted."""
        with answering():
            try:
                return self._cache.get_many(keys)
            except DAMAGED:
                return {key: value for key in keys if (value := self._read_one(key)) is not None}

    def _read_one(self, key: str) -> Any:
        try:
            return self._cache.get(key)
        except DAMAGED as error:
            logger.warning("%s of the presence store is damaged: %s.", key, type(error).__name__)
            self._cache.delete(key)
            return None

    def _write_as(
        self, token: str, values: Mapping[str, str | int], removed: Collection[str], lifetime: int | None
    ) -> None:
        with answering():
            is_done = not (values or removed) or self._cache.write_as(LEASE, token, values, removed, lifetime)
        if not is_done:
            raise LeaseLost("The lease of the presence worker ended.")

    def _set(self, key: str, value: str | int, lifetime: int | None) -> None:
        with answering():
            self._cache.set(key, value, lifetime)

    def _next_request(self) -> int:
        """Return a number from the clock's milliseconds, so that it grows even after the store was emptied."""
        try:
            return self._cache.incr(LAST_ASK)
        except DAMAGED:  # or there is none yet
            first = int(time.time() * 1000)
            if not self._cache.add(LAST_ASK, first, None) and not isinstance(self._read_one(LAST_ASK), int):
                self._cache.set(LAST_ASK, first, None)
            return self._cache.incr(LAST_ASK)

    def _pending(self, now: float) -> list[int]:
        self._awaited = {number: until for number, until in self._awaited.items() if until > now}
        return sorted(self._awaited)


@from_settings
def opened() -> PresenceStore:
    return PresenceStore(caches["presence"])


def _names(chat_id: int) -> list[str]:
    return [f"{kind}:{chat_id}" for kind in _KINDS]


def _snapshot(chat_id: int, found: Mapping[str, Any], generation: int, alive_at: float | None) -> Snapshot:
    record = Record.from_text(found.get(f"m:{chat_id}", ""))
    record = record if record is not None and record.generation >= generation else None
    miss, privacy = found.get(f"miss:{chat_id}"), found.get(f"privacy:{chat_id}")
    if record is not None:
        is_private = record.is_private or privacy == 1
    else:
        is_private = privacy == 1 if isinstance(privacy, int) else miss == "private"
    return Snapshot(
        alive_at=alive_at,
        record=record,
        banner=Banner.from_text(found.get(f"banner:{chat_id}")),
        profile=Profile.from_text(found.get(f"profile:{chat_id}")),
        miss=miss if isinstance(miss, str) and miss in MISS_LIFETIMES else "",
        is_private=is_private,
    )


def _generation(found: Mapping[str, Any]) -> int:
    value = found.get(COMPLETE)
    return value if isinstance(value, int) and value > 0 else 0


def _mark(found: Mapping[str, Any]) -> str:
    value = found.get(MARK)
    return value if isinstance(value, str) else ""


def _alive_at(found: Mapping[str, Any]) -> float | None:
    stamp = Stamp.from_text(found.get(ALIVE))
    return stamp.alive_at if stamp and 0 < stamp.generation <= _generation(found) else None


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
