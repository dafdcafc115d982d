"""The limits of any number of processes, in Redis.

The verdict on a key is made here, by `KeyRecord.verdict`, from the record that this process knows. The script only
compares: where Redis holds another record, it counts nothing and answers with that one, and the verdict is made anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from redis.exceptions import RedisError

from accounts import limit_scripts, limits
from accounts.key_records import KeyRecord, Verdict
from accounts.limits import KeyAnswer, KeyRequest, Limit, LimitsUnavailable, LoadKey, Outcome, outcome_of
from accounts.redis_connection import RedisConnection, Reply

_UNKNOWN = limit_scripts.NO_SUCH_KEY.encode()
_REFUSALS = {
    limit_scripts.ADDRESS_LIMITED: Verdict.ADDRESS_LIMITED,
    limit_scripts.KEY_LIMITED: Verdict.KEY_LIMITED,
}
_MINUTE = 60_000  # milliseconds


class RedisLimits:
    """A `limits.LimitStore`."""

    MOST_RECORDS = 10_000  # that the process knows
    MOST_TRIES = 5  # of one check, while the key changes again and again

    def __init__(self) -> None:
        self._redis = RedisConnection("default")
        self._records: dict[str, tuple[bytes, KeyRecord]] = {}

    def hit(self, limits: Sequence[Limit]) -> list[Outcome]:
        """1 round trip."""
        keys = [_redis_key(limit.name) for limit in limits]
        arguments = [part for limit in limits for part in (limit.amount, _milliseconds(limit.window))]
        try:
            is_allowed, *answers = self._redis.script(limit_scripts.HIT, keys, arguments)
        except RedisError as error:
            raise LimitsUnavailable from error
        return [
            outcome_of(limit, count, milliseconds / 1000, is_counted=bool(is_allowed))
            for limit, count, milliseconds in zip(limits, answers[::2], answers[1::2], strict=True)
        ]

    def check_key(self, asked: KeyRequest, load: LoadKey) -> KeyAnswer:
        """1 round trip with a record that the process knows, 2 with one that Redis knows; else the key is loaded."""
        text, record = self._records.get(asked.secret_hash, (b"", None))
        lifetime = 0
        for _ in range(self.MOST_TRIES):
            verdict = asked.verdict(record)
            (outcome, detail), reply = self._count(asked, record, verdict, text, lifetime)
            if outcome == limit_scripts.COUNTED:
                return KeyAnswer(verdict, record, reply=reply)
            if outcome != limit_scripts.MISS:
                return KeyAnswer(_REFUSALS[outcome], seconds_left=math.ceil(detail / 1000))
            if detail:
                text, record, lifetime = detail, KeyRecord.from_json(detail), 0
            else:
                record = load(asked.secret_hash)
                text = _UNKNOWN if record is None else record.to_json().encode()
                lifetime = _milliseconds(limits.RECORD_LIFETIME)
            self._remember(asked.secret_hash, text, record)
        raise LimitsUnavailable(f"The record of a key changed {self.MOST_TRIES} times during one check.")

    def forget_keys(self, secret_hashes: Sequence[str]) -> None:
        """Instead of each record, a mark that keeps a reader from putting the old one back."""
        pause = _milliseconds(limits.PAUSE_AFTER_CHANGE)
        marks = [("SET", _redis_record(one), limit_scripts.FORGOTTEN, "PX", pause) for one in secret_hashes]
        if not marks:
            return
        try:
            self._redis.pipeline(*marks)
        except RedisError as error:
            raise LimitsUnavailable from error

    def _count(
        self, asked: KeyRequest, record: KeyRecord | None, verdict: Verdict, text: bytes, lifetime: int
    ) -> tuple[tuple[int, Reply], Reply]:
        """What the script answers, and the reply to the command beside it."""
        address = asked.address if asked.is_counted else None
        limit = asked.limit(record) if record and asked.is_counted and verdict is Verdict.OK else None
        window = _redis_key(f"key:{asked.secret_hash}")
        keys = [_redis_record(asked.secret_hash), _redis_key(asked.address.name), window]
        try:
            answer, *replies = self._redis.script_and(
                [asked.beside] if asked.beside else [],
                limit_scripts.COUNT_FOR_KEY,
                keys,
                [text, lifetime, *_amount(address), *_amount(limit)],
            )
        except RedisError as error:
            raise LimitsUnavailable from error
        return answer, replies[0] if replies else None

    def _remember(self, secret_hash: str, text: bytes, record: KeyRecord | None) -> None:
        if len(self._records) >= self.MOST_RECORDS:
            self._records = {}
        if record is None:
            self._records.pop(secret_hash, None)
        else:
            self._records[secret_hash] = text, record


def _amount(limit: Limit | None) -> tuple[int, int]:
    """A limit as the script takes it: 0 for one that is not counted."""
    return (limit.amount, _milliseconds(limit.window)) if limit is not None else (0, 0)


def _redis_key(name: str) -> str:
    """One hash tag for all: a script may only touch keys of one slot of a Redis Cluster."""
    return f"{{limit}}:{name}"


def _redis_record(secret_hash: str) -> str:
    return _redis_key(f"{limit_scripts.RECORDS}:{secret_hash}")


def _milliseconds(length: timedelta) -> int:
    return length // timedelta(milliseconds=1) if length is not limits.MINUTE else _MINUTE
