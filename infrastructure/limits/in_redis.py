"""The limits of any number of processes, in Redis: each script is one step for all of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from redis.exceptions import RedisError

from infrastructure.limits import (
    RECORD_LIFETIME,
    REFUSALS,
    KeyAnswer,
    KeyRecord,
    KeyRequest,
    Left,
    Limit,
    LimitsUnavailable,
    LoadKey,
    Verdict,
    Window,
)
from infrastructure.redis_connection import Part, RedisConnection, Reply, Script
from infrastructure.timestamps import MILLISECOND

# How long no record of a changed key is cached: longer than a reader that read it before the change may take.
PAUSE_AFTER_CHANGE = timedelta(seconds=10)

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
