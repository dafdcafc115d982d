"""The limits of any number of processes, in Redis. Each script is one step for all of them.

The verdict on a key is reached here, by `KeyRecord.verdict`, from the record that this process knows. The script only
compares: where Redis holds another record, it counts nothing and answers with that one, and the verdict is repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from redis.exceptions import RedisError

from infrastructure import limits
from infrastructure.limits import KeyAnswer, KeyRecord, KeyRequest, LimitsUnavailable, LoadKey, Verdict, Window
from infrastructure.redis.redis_connection import RedisConnection, Reply, Script

# Keys: the windows. Arguments: "1" to count the request, else only to look; then for each window its amount and its
# length in milliseconds. Answer: the milliseconds that are left of the first window that is used up, else 0.
HIT = Script("""
for i, key in ipairs(KEYS) do
    if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[2 * i]) then
        local left = redis.call('PTTL', key)
        return left >= 0 and math.max(left, 1) or tonumber(ARGV[2 * i + 1])
    end
end
if ARGV[1] == '1' then
    for i, key in ipairs(KEYS) do
        if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[2 * i + 1]) end
    end
end
return 0
""")

RECORDS = "record-1"  # in the names of records; a new number whenever the fields of KeyRecord change
FORGOTTEN = "forgotten"  # in place of a record, for a while
NO_SUCH_KEY = "unknown"  # the caller's record of a key that the database does not have; never stored
COUNTED, MISS, ADDRESS_LIMITED, KEY_LIMITED = 0, 1, 2, 3

# Keys: the key's record, the address's window, the key's window.
# Arguments: the record by which the caller decided; its lifetime in milliseconds where the caller has just read it from
# the database, else 0; the amount and the window in milliseconds of the address, then of the key (0: not counted).
# Answer: one of the numbers above, then the milliseconds that are left of the window that refuses, or, for MISS, the
# record that is cached instead ("": none).
COUNT_FOR_KEY = Script(f"""
local record, lifetime = ARGV[1], ARGV[2]
local function is_used_up(window, amount)
    return amount ~= '0' and tonumber(redis.call('GET', window) or '0') >= tonumber(amount)
end
local function left(window, length)
    local milliseconds = redis.call('PTTL', window)
    return milliseconds >= 0 and math.max(milliseconds, 1) or tonumber(length)
end
if is_used_up(KEYS[2], ARGV[3]) then return {{{ADDRESS_LIMITED}, left(KEYS[2], ARGV[4])}} end
local cached = redis.call('GET', KEYS[1])
if cached ~= record then
    if cached == '{FORGOTTEN}' then cached = '' end
    if lifetime == '0' or (cached and cached ~= '') then return {{{MISS}, cached or ''}} end
    if not cached and record ~= '{NO_SUCH_KEY}' then redis.call('SET', KEYS[1], record, 'PX', lifetime) end
end
if is_used_up(KEYS[3], ARGV[5]) then return {{{KEY_LIMITED}, left(KEYS[3], ARGV[6])}} end
for i = 2, 3 do
    if ARGV[2 * i - 1] ~= '0' and redis.call('INCR', KEYS[i]) == 1 then redis.call('PEXPIRE', KEYS[i], ARGV[2 * i]) end
end
return {{{COUNTED}, 0}}
""")

_UNKNOWN = NO_SUCH_KEY.encode()
_REFUSALS = {ADDRESS_LIMITED: Verdict.ADDRESS_LIMITED, KEY_LIMITED: Verdict.KEY_LIMITED}
_LIFETIME = limits.RECORD_LIFETIME // timedelta(milliseconds=1)
_PAUSE = limits.PAUSE_AFTER_CHANGE // timedelta(milliseconds=1)


class RedisLimits:
    """A `limits.LimitStore`."""

    MOST_RECORDS = 10_000  # that the process knows
    MOST_TRIES = 5  # of one check, while the key changes again and again

    def __init__(self) -> None:
        self._redis = RedisConnection()
        self._records: dict[str, tuple[bytes, KeyRecord]] = {}

    def hit(self, windows: Sequence[Window]) -> int:
        """1 round trip."""
        return self._hit(windows, is_counted=1)

    def peek(self, window: Window) -> int:
        """1 round trip."""
        return self._hit([window], is_counted=0)

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer:
        """1 round trip with a record that the process knows, 2 with one that Redis knows; else the key is loaded."""
        text, record = self._records.get(asked.secret_hash, (b"", None))
        lifetime = 0
        for _ in range(self.MOST_TRIES):
            verdict = asked.verdict(record)
            outcome, detail = self._count(asked, record, verdict, text, lifetime)
            if outcome == COUNTED:
                return KeyAnswer(verdict, record)
            if outcome != MISS:
                return KeyAnswer(_REFUSALS[outcome], seconds_left=math.ceil(detail / 1000))
            if detail:
                text, record, lifetime = detail, KeyRecord.from_json(detail), 0
            else:
                record = load(asked.secret_hash)
                text = _UNKNOWN if record is None else record.to_json().encode()
                lifetime = _LIFETIME
            self._remember(asked.secret_hash, text, record)
        raise LimitsUnavailable(f"The record of a key changed {self.MOST_TRIES} times during one check.")

    def forget_keys(self, secret_hashes: Sequence[str]) -> None:
        """Instead of each record, a mark that keeps a reader from putting the old one back."""
        marks = [("SET", _redis_record(one), FORGOTTEN, "PX", _PAUSE) for one in secret_hashes]
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
            left: int = self._redis.script(HIT, keys, [is_counted, *amounts])
        except RedisError as error:
            raise LimitsUnavailable from error
        return math.ceil(left / 1000)

    def _count(
        self, asked: KeyRequest, record: KeyRecord | None, verdict: Verdict, text: bytes, lifetime: int
    ) -> tuple[int, Reply]:
        """Run the script; return its answer."""
        address = asked.address if asked.is_counted else None
        window = asked.window(record) if record and asked.is_counted and verdict is Verdict.OK else None
        key_window = _redis_key(f"key:{asked.secret_hash}")
        keys = [_redis_record(asked.secret_hash), _redis_key(asked.address.key), key_window]
        try:
            answer: tuple[int, Reply] = self._redis.script_and_prefetch(
                COUNT_FOR_KEY, keys, [text, lifetime, *_amount(address), *_amount(window)]
            )
        except RedisError as error:
            raise LimitsUnavailable from error
        return answer

    def _remember(self, secret_hash: str, text: bytes, record: KeyRecord | None) -> None:
        if len(self._records) >= self.MOST_RECORDS:
            self._records = {}
        if record is None:
            self._records.pop(secret_hash, None)
        else:
            self._records[secret_hash] = text, record


def _amount(window: Window | None) -> tuple[int, int]:
    """A window as the script takes it: 0 for one that is not counted."""
    return (window.limit.amount, window.limit.milliseconds) if window is not None else (0, 0)


def _redis_key(name: str) -> str:
    """Return the name of a key of limits. The braces stay: a release before this one may use it during an update."""
    return f"{{limit}}:{name}"


def _redis_record(secret_hash: str) -> str:
    return _redis_key(f"{RECORDS}:{secret_hash}")
