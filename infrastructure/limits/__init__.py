"""Rate limits: the counting of requests and API keys against the rows of a table.

Windows are fixed: the first request opens one, and refused requests neither extend it nor count. `hit()` is one round
trip to the store however many limits apply; so is `check_key()`, which reads an API key too, once its record is cached.

The store is Redis; `in_process` is that of the embedded default.
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol, Self

from django.conf import settings
from django.utils.module_loading import import_string
from prometheus_client import Counter
from redis.exceptions import RedisError

from infrastructure.once import once
from infrastructure.redis_connection import Part, RedisConnection, Reply, Script
from infrastructure.requests.request_context import Prefetch
from infrastructure.settings_cache import from_settings
from infrastructure.timestamps import EPOCH, MICROSECOND, MILLISECOND

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
RECORD_LIFETIME = timedelta(seconds=60)  # how long a key's record is cached
# How long no record of a changed key is cached: longer than a reader that read it before the change may take.
PAUSE_AFTER_CHANGE = timedelta(seconds=10)
FOREVER = 2**53 - 1  # the greatest whole number that Lua counts exactly: the year 2255


REFUSED = Counter(
    "hearth_refusals",
    "Requests refused by a limit, by name: of an address (api, protocol), a key (key, key-uses), a plan (plan-...).",
    ("limit",),
)


class Limit:
    """A row of the table: at most `amount` requests of one subject within `window`. `counts` says what is counted.

    Rows of one name share their windows.
    """

    def __init__(self, name: str, amount: int, counts: str, *, window: timedelta = MINUTE) -> None:
        self.name = name
        self.amount = amount
        self.counts = counts
        self.window = window
        self.seconds = window.total_seconds()
        self.milliseconds = window // MILLISECOND
        self.for_script = amount, self.milliseconds

    def of(self, subject: str = "") -> Window:
        """The window of one address, key, user or the like."""
        return Window(f"{self.name}:{subject}", self)


class Left(NamedTuple):
    """What a window has left. `requests`: at least 0. `seconds`: until it ends (whole, at least 1)."""

    limit: Limit
    requests: int
    seconds: int

    @classmethod
    def of(cls, limit: Limit, count: int, milliseconds: int) -> Self:
        """`count`: the requests in the window. A limit may have shrunk below that, as where premium ends."""
        requests = limit.amount - count
        return cls(limit, requests if requests > 0 else 0, -(-milliseconds // 1000) or 1)


@dataclass(slots=True)
class Window:
    """The window in which a request counts. `key` names it in the store.

    `left`: once a request is counted in it or refused, if it is the first window of a call.
    """

    key: str
    limit: Limit
    left: Left | None = None


class Verdict(enum.StrEnum):
    """How the check of a key ended, in the order in which the reasons are checked."""

    ADDRESS_LIMITED = "ADDRESS_LIMITED"
    UNKNOWN = "UNKNOWN"
    DEAD = "DEAD"
    DISABLED = "DISABLED"
    EXPIRED = "EXPIRED"
    NOT_PERMITTED = "NOT_PERMITTED"
    KEY_LIMITED = "KEY_LIMITED"
    OK = "OK"


REFUSALS = (Verdict.ADDRESS_LIMITED, Verdict.KEY_LIMITED)  # in the order of the windows of a request with a key


class KeyRecord(NamedTuple):
    """The columns of a key and its owner that a request's check needs. Times are microseconds since 1970.

    `is_dead`: revoked, or the owner is banned. `premium_until`: 0 where the owner has no premium.
    """

    key_id: int
    owner_id: str
    permissions: list[str]
    is_dead: bool
    is_enabled: bool
    expires_at: int
    premium_until: int
    has_quota: bool

    def verdict(self, permission: str, now: int) -> Verdict:
        """Return the verdict on the key, limits and usage aside. `now`: in microseconds since 1970."""
        if self.is_dead:
            return Verdict.DEAD
        if not self.is_enabled:
            return Verdict.DISABLED
        if self.expires_at <= now:
            return Verdict.EXPIRED
        return Verdict.OK if permission in self.permissions else Verdict.NOT_PERMITTED

    def is_premium(self, now: int) -> bool:
        """`now`: in microseconds since 1970."""
        return now < self.premium_until

    def to_json(self) -> str:
        return json.dumps(self._asdict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        return cls(**json.loads(text))


def microseconds(at: datetime | None) -> int:
    """A time as records have it; FOREVER for None."""
    return FOREVER if at is None else min((at - EPOCH) // MICROSECOND, FOREVER)


@dataclass(slots=True)
class KeyRequest:
    """A request that brings a key.

    `instant`: in microseconds since 1970. `premium_limit`: where the owner of the key has premium. `is_counted` False:
    no limit counts or refuses it. `prefetch`: sent along where the store is Redis. `cost`: how many requests it counts
    as in the key's window; in the address's it is one. `left`: what the key's window has left, once the request is
    counted in it, or refused by it.
    """

    address: Window
    secret_hash: str
    permission: str
    instant: int
    limit: Limit
    premium_limit: Limit
    is_counted: bool = True
    prefetch: Prefetch | None = None
    cost: int = 1
    left: Left | None = None

    def verdict(self, record: KeyRecord | None) -> Verdict:
        """Return the verdict on the key of this record, limits aside."""
        return Verdict.UNKNOWN if record is None else record.verdict(self.permission, self.instant)

    def limit_of(self, record: KeyRecord) -> Limit:
        """Return the limit of the key's window."""
        return self.premium_limit if record.is_premium(self.instant) else self.limit


@dataclass(slots=True)
class KeyAnswer:
    """How the check of a key ended. `record`: of a known key, unless a limit refuses the request.

    `seconds_left`: until the window that refuses the request ends (whole, at least 1); 0 where none does.
    """

    verdict: Verdict
    record: KeyRecord | None = None
    seconds_left: int = 0


LoadKey = Callable[[str], KeyRecord | None]  # by the SHA-256 of its secret, from the database


class LimitsUnavailable(Exception):
    """The store does not answer, so requests cannot be counted."""


class LimitStore(Protocol):
    """Counts requests in all windows of a call, or, where one is used up, in none.

    `check_key` takes the address's window first, whatever the key; a key that is refused for itself counts for the
    address, one whose window has less left than the request costs for neither. It may answer from a record as old as
    RECORD_LIFETIME, but not from one older than the key's last `forget_keys`.
    """

    def hit(self, windows: Sequence[Window]) -> int: ...

    def peek(self, window: Window) -> int: ...

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer: ...

    def forget_keys(self, secret_hashes: Sequence[str]) -> None: ...


# --- In Redis: the limits of any number of processes; each script is one step for all of them ---

# The milliseconds that are left of a window, by its name and its length. Redis keeps a key through the millisecond in
# which its time ends, so a window's key lives a millisecond less than the window.
_LEFT = """
local function left_of(key, length)
    local milliseconds = redis.call('PTTL', key)
    return milliseconds >= 0 and math.min(milliseconds + 1, length) or length
end
"""

# Keys: the windows. Arguments: "1" to count the request, else only to look; then for each window its amount and its
# length in milliseconds. Answer: the milliseconds that are left of the first window that is used up, else 0; then the
# requests in the first window, and the milliseconds that are left of it.
HIT = Script(f"""{_LEFT}
local refused = 0
for i, key in ipairs(KEYS) do
    if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[2 * i]) then
        refused = left_of(key, tonumber(ARGV[2 * i + 1]))
        break
    end
end
if ARGV[1] == '1' and refused == 0 then
    for i, key in ipairs(KEYS) do
        if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[2 * i + 1] - 1) end
    end
end
return {{refused, tonumber(redis.call('GET', KEYS[1]) or '0'), left_of(KEYS[1], tonumber(ARGV[3]))}}
""")

RECORDS = "record-2"  # in the names of records; a new number whenever what they hold changes
RECORDS_BEFORE = "record-1"  # of the release before, whose processes work on during an update
FORGOTTEN = "forgotten"  # in place of a record, for a while
VERSION_SIZE = 8  # bytes: a digest of the record, which stands before it
UNKNOWN = b"unknown "  # the version of a key that the database does not have; never stored
COUNTED, MISS, ADDRESS_LIMITED, KEY_LIMITED = 0, 1, 2, 3  # the last two in the order of REFUSALS

# Keys: the key's record, the address's window, the key's window.
# Arguments: the version of the record by which the caller decided; the amount and the window in milliseconds of the
# address, then of the key (0: not counted); what the request costs the key; where the caller has just read the record
# from the database, that and its lifetime in milliseconds.
# Answer: for MISS, that and the record that is cached instead ("": none); else COUNTED or the number of a refusal, and
# the requests and the milliseconds that are left of the address's window, then, but for ADDRESS_LIMITED, of the key's.
COUNT_FOR_KEY = Script(f"""{_LEFT}
local windows = redis.call('MGET', KEYS[2], KEYS[3])
local counts = {{tonumber(windows[1] or '0'), tonumber(windows[2] or '0')}}
local function is_used_up(i, cost)
    return ARGV[2 * i] ~= '0' and counts[i] + cost > tonumber(ARGV[2 * i])
end
local function left(i)
    if ARGV[2 * i] == '0' then return 0 end
    local length = tonumber(ARGV[2 * i + 1])
    return windows[i] and left_of(KEYS[i + 1], length) or length
end
if is_used_up(1, 1) then return {{{ADDRESS_LIMITED}, counts[1], left(1)}} end
if redis.call('GETRANGE', KEYS[1], 0, {VERSION_SIZE - 1}) ~= ARGV[1] then
    local cached = redis.call('GET', KEYS[1])
    if not ARGV[7] or (cached and cached ~= '{FORGOTTEN}') then
        return {{{MISS}, cached and cached ~= '{FORGOTTEN}' and cached or ''}}
    end
    if not cached and ARGV[1] ~= '{UNKNOWN.decode()}' then redis.call('SET', KEYS[1], ARGV[7], 'PX', ARGV[8]) end
end
if is_used_up(2, tonumber(ARGV[6])) then return {{{KEY_LIMITED}, counts[1], left(1), counts[2], left(2)}} end
for i = 1, 2 do
    if ARGV[2 * i] ~= '0' then
        counts[i] = redis.call('INCRBY', KEYS[i + 1], i == 1 and '1' or ARGV[6])
        if not windows[i] then redis.call('PEXPIRE', KEYS[i + 1], ARGV[2 * i + 1] - 1) end
    end
end
return {{{COUNTED}, counts[1], left(1), counts[2], left(2)}}
""")

_LIFETIME = RECORD_LIFETIME // MILLISECOND
_PAUSE = PAUSE_AFTER_CHANGE // MILLISECOND


class KnownKey(NamedTuple):
    """A key as a process knows it. `version`: of its record in Redis. `was_accepted`: at the last request."""

    version: bytes
    record: KeyRecord | None
    was_accepted: bool = False


class RedisLimits:
    """A LimitStore.

    The verdict on a key is reached here, by `KeyRecord.verdict`, from the record that this process knows. The script
    only compares: where Redis holds another record, it counts nothing and answers with that one, and the verdict is
    repeated.
    """

    MOST_RECORDS = 10_000  # that the process knows
    MOST_TRIES = 5  # of one check, while the key changes again and again

    def __init__(self) -> None:
        self._redis = RedisConnection()
        self._known: dict[str, KnownKey] = {}

    def hit(self, windows: Sequence[Window]) -> int:
        """1 round trip."""
        return self._hit(windows, is_counted=1)

    def peek(self, window: Window) -> int:
        """1 round trip."""
        return self._hit([window], is_counted=0)

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer:
        """1 round trip with a record that the process knows, 2 with one that Redis knows; else the key is loaded."""
        known = self._known.get(asked.secret_hash, _NOT_KNOWN)
        stored: tuple[Part, ...] = ()
        for _ in range(self.MOST_TRIES):
            verdict = asked.verdict(known.record)
            outcome, detail = self._count(asked, known, verdict, stored)
            if outcome == COUNTED:
                if not known.was_accepted and verdict is Verdict.OK:
                    self._remember(asked.secret_hash, known._replace(was_accepted=True))
                return KeyAnswer(verdict, known.record)
            if outcome != MISS:
                if known.was_accepted:
                    self._remember(asked.secret_hash, known._replace(was_accepted=False))
                return KeyAnswer(REFUSALS[outcome - ADDRESS_LIMITED], seconds_left=detail)
            if detail:
                known, stored = KnownKey(detail[:VERSION_SIZE], KeyRecord.from_json(detail[VERSION_SIZE:])), ()
            else:
                known, value = _read(load(asked.secret_hash))
                stored = value, _LIFETIME
            self._remember(asked.secret_hash, known)
        raise LimitsUnavailable(f"The record of a key changed {self.MOST_TRIES} times during one check.")

    def _remember(self, secret_hash: str, known: KnownKey) -> None:
        if known.record is None:
            self._known.pop(secret_hash, None)
            return
        if len(self._known) >= self.MOST_RECORDS and secret_hash not in self._known:
            self._known = {}
        self._known[secret_hash] = known

    def forget_keys(self, secret_hashes: Sequence[str]) -> None:
        """Instead of each record, a mark that keeps a reader from putting the old one back."""
        marks = [
            ("SET", _redis_key(f"{records}:{one}"), FORGOTTEN, "PX", _PAUSE)
            for one in secret_hashes
            for records in (RECORDS, RECORDS_BEFORE)
        ]
        if not marks:
            return
        try:
            self._redis.pipeline(*marks)
        except RedisError as error:
            raise LimitsUnavailable from error

    def _hit(self, windows: Sequence[Window], *, is_counted: int) -> int:
        keys = [_redis_key(window.key) for window in windows]
        amounts = [part for window in windows for part in (window.limit.amount, window.limit.milliseconds)]
        try:
            reply: list[int] = self._redis.script(HIT, keys, [is_counted, *amounts])[0]
        except RedisError as error:
            raise LimitsUnavailable from error
        refused, count, milliseconds = reply
        windows[0].left = Left.of(windows[0].limit, count, milliseconds)
        return math.ceil(refused / 1000)

    def _count(self, asked: KeyRequest, known: KnownKey, verdict: Verdict, stored: Sequence[Part]) -> tuple[int, Reply]:
        """Run the script and note what the windows have left. Return its outcome, and for MISS the cached record
        (bytes), for a refusal the seconds until its window ends."""
        record = known.record
        of_address = asked.address.limit if asked.is_counted else _NO_LIMIT
        of_key = asked.limit_of(record) if record and asked.is_counted and verdict is Verdict.OK else _NO_LIMIT
        reply = self._run(asked, known, verdict, (*of_address.for_script, *of_key.for_script), stored)
        outcome: int = reply[0]
        if outcome == MISS:
            return outcome, reply[1]
        if of_address is _NO_LIMIT:
            return outcome, 0
        left = asked.address.left = Left.of(of_address, reply[1], reply[2])
        if of_key is not _NO_LIMIT and outcome != ADDRESS_LIMITED:
            left = asked.left = Left.of(of_key, reply[3], reply[4])
        return outcome, left.seconds

    def _run(
        self,
        asked: KeyRequest,
        known: KnownKey,
        verdict: Verdict,
        limits: Sequence[Part],
        stored: Sequence[Part],
    ) -> Reply:
        """Run the script, and send `asked.prefetch` along; return the script's answer."""
        keys = (
            f"{{limit}}:{RECORDS}:{asked.secret_hash}",
            f"{{limit}}:{asked.address.key}",
            f"{{limit}}:key:{asked.secret_hash}",
        )
        arguments = (known.version, *limits, asked.cost, *stored)
        record, prefetch = known.record, asked.prefetch
        try:
            if prefetch is None:
                return self._redis.script(COUNT_FOR_KEY, keys, arguments)[0]
            if prefetch.command:
                answer, prefetch.reply = self._redis.script(COUNT_FOR_KEY, keys, arguments, prefetch.command)
                return answer
            # A refused request shall not cost more than its refusal, and a use of a quota needs the connection.
            is_expected = verdict is Verdict.OK and known.was_accepted and record is not None and not record.has_quota
            send = prefetch.send if is_expected else None
            return self._redis.script(COUNT_FOR_KEY, keys, arguments, meanwhile=send)[0]
        except RedisError as error:
            raise LimitsUnavailable from error


_NOT_KNOWN = KnownKey(b"-", None)  # a version that no record has
_NO_LIMIT = Limit("none", 0, "nothing")  # an amount of 0 counts and refuses nothing


def _read(record: KeyRecord | None) -> tuple[KnownKey, bytes]:
    """Return a record that was read from the database, with its version, and the value under which Redis stores it."""
    if record is None:
        return KnownKey(UNKNOWN, None), b""
    text = record.to_json().encode()
    version = hashlib.blake2b(text, digest_size=VERSION_SIZE).digest()
    return KnownKey(version, record), version + text


def _redis_key(name: str) -> str:
    """Return the name of a key of limits. The braces stay: a release before this one may use it during an update."""
    return f"{{limit}}:{name}"


@once
def _store() -> LimitStore:
    store: LimitStore = import_string(settings.LIMIT_STORE)()
    return store


@from_settings
def _is_counting() -> bool:
    return settings.RATE_LIMITS_ENABLED


def hit(*windows: Window) -> int:
    """Count one request in all of `windows`, and return 0. Where one is used up, count nothing and return the seconds
    until the first such window ends. With RATE_LIMITS_ENABLED=0 nothing is counted.

    LimitsUnavailable: answer 503; accepting every request would be a reason to attack the store.
    """
    return _noted(_store().hit(windows), windows[0]) if _is_counting() else 0


def peek(window: Window) -> int:
    """Return the seconds until a used-up window ends, else 0; count nothing. LimitsUnavailable."""
    return _noted(_store().peek(window), window) if _is_counting() else 0


def _noted(seconds_left: int, window: Window) -> int:
    """A refusal is counted under the first of its windows."""
    if seconds_left:
        REFUSED.labels(window.limit.name).inc()
    return seconds_left


def take(*windows: Window) -> int:
    """Count one call to another service in all of `windows`, whatever RATE_LIMITS_ENABLED is; return as `hit`."""
    return _store().hit(windows)


def check_key(asked: KeyRequest, load: LoadKey) -> KeyAnswer:
    """Count a request with a key, and return the verdict on the key. LimitsUnavailable as `hit`.

    With RATE_LIMITS_ENABLED=0 nothing is counted, and keys are checked all the same.
    """
    if not _is_counting():
        asked.is_counted = False
    answer = _store().check_key(asked, load)
    if answer.seconds_left:
        limit = asked.address.limit if answer.verdict is Verdict.ADDRESS_LIMITED else asked.limit
        REFUSED.labels(limit.name).inc()
    return answer


def forget_keys(secret_hashes: Sequence[str]) -> None:
    """Drop the records of changed keys. LimitsUnavailable: old records may still answer."""
    _store().forget_keys(secret_hashes)
