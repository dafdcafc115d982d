"""Visits in Redis: a request writes nothing to the database; `fold_visits` brings the counts there.

The counts are one hash. It gets a token with its first count, is set aside as a whole when it is folded, and is deleted
after the tables have noted that token. So after a crash anywhere, or with a Redis that restarts with data of a second
ago, equal counts are folded under one token again, which adds nothing.
"""

from __future__ import annotations

import secrets
from datetime import date, datetime, timedelta

from redis.exceptions import RedisError

from lookup.visits import StoreUnavailable, database_store
from lookup.visits.daily_counts import Click, View
from lookup.visits.database_store import DAY, ONCE_IN, Days, Folded, day_of, new_salt
from lookup.visits.visitors import DIRECT, OTHER, Visitor

SALT_LIFETIME = timedelta(days=2)  # today's, then yesterday's
# The braces stay: a release before this one may use the same keys during an update.
COUNTS = "{visit}:counts"
FOLDING = "{visit}:folding"
TOKEN = "token"  # noqa: S105 - a field's name
VIEW, CLICK = "view:", "click:"
# Counts by day: of a view its user, profile, day and host; of a click its link and day.
VIEW_DAY, CLICK_DAY = "view-day:", "click-day:"
MOST_FIELDS = 100_000  # of the counts; from then on every host counts as OTHER

# Keys: today's salt, which is made if missing, and yesterday's. Answer: both.
SALTS = """
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return redis.call('MGET', KEYS[1], KEYS[2])
"""
# Keys: today's salt, the visitor under it and under yesterday's, the counts. Answer: whether it is a view, or -1 if
# the salt has changed.
COUNT_VIEW = f"""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
if not redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[2]) then return 0 end
redis.call('HSETNX', KEYS[4], '{TOKEN}', ARGV[4])
redis.call('HINCRBY', KEYS[4], ARGV[3], 1)
local host = ARGV[6]
if redis.call('HLEN', KEYS[4]) >= {MOST_FIELDS} and host ~= '{DIRECT}' then host = '{OTHER}' end
redis.call('HINCRBY', KEYS[4], ARGV[5] .. host, 1)
return 1
"""
# Key: the counts.
COUNT_CLICK = f"""
redis.call('HSETNX', KEYS[1], '{TOKEN}', ARGV[3])
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
return redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
"""
# Keys: the counts, the counts being folded. Answer: the second, as names and values by turns.
SET_ASIDE = """
if redis.call('EXISTS', KEYS[2]) == 0 and redis.call('EXISTS', KEYS[1]) == 1 then
    redis.call('RENAME', KEYS[1], KEYS[2])
end
return redis.call('HGETALL', KEYS[2])
"""
# Key: the counts that are being folded. They are kept where they are already the next ones.
DROP = f"""
if redis.call('HGET', KEYS[1], '{TOKEN}') == ARGV[1] then return redis.call('UNLINK', KEYS[1]) end
return 0
"""


class RedisVisits:
    """Counts for any number of processes. One round trip for each view; a second one when the salt changes."""

    def __init__(self) -> None:
        from django_redis import get_redis_connection  # only where Redis is configured

        redis = get_redis_connection("default")
        self._find_salts = redis.register_script(SALTS)
        self._count_view = redis.register_script(COUNT_VIEW)
        self._count_click = redis.register_script(COUNT_CLICK)
        self._set_aside = redis.register_script(SET_ASIDE)
        self._drop = redis.register_script(DROP)
        self._salts: tuple[date, list[str]] | None = None  # of the day, today's first

    def count_view(self, visitor: Visitor, view: View, now: datetime) -> bool:
        try:
            answer = self._count(visitor, view, day_of(now))
            if answer < 0:  # the day is new, or Redis has lost its salt
                self._salts = None
                answer = self._count(visitor, view, day_of(now))
        except RedisError as error:
            raise StoreUnavailable from error
        if answer < 0:
            raise StoreUnavailable("Redis does not keep the salt of the day.")
        return answer == 1

    def count_click(self, click: Click) -> None:
        fields = f"{CLICK}{click.link_id}", f"{CLICK_DAY}{click.link_id}:{click.day.isoformat()}"
        try:
            self._count_click(keys=[COUNTS], args=[*fields, secrets.token_hex(16)])
        except RedisError as error:
            raise StoreUnavailable from error

    def fold(self, now: datetime) -> Folded:
        """Fold the counts that a crashed run left, then the current ones."""
        return self._fold_one(now) + self._fold_one(now)

    def _count(self, visitor: Visitor, view: View, today: date) -> int:
        known = self._salts
        if known is None or known[0] != today:
            keys = [_salt_key(today), _salt_key(today - DAY)]
            found = self._find_salts(keys=keys, args=[new_salt(), _milliseconds(SALT_LIFETIME)])
            known = self._salts = today, [salt.decode() for salt in found if salt is not None]
        salts = known[1]
        seen = [f"{{visit}}:seen:{visitor.hashed(view.user_id, salt)}" for salt in salts]
        by_day = f"{VIEW_DAY}{view.user_id}:{view.profile_id}:{view.day.isoformat()}:"
        once_in, counter = _milliseconds(ONCE_IN), f"{VIEW}{view.user_id}"
        arguments = [salts[0], once_in, counter, secrets.token_hex(16), by_day, view.host]
        answer: int = self._count_view(keys=[_salt_key(today), seen[0], seen[-1], COUNTS], args=arguments)
        return answer

    def _fold_one(self, now: datetime) -> Folded:
        try:
            answer = [part.decode() for part in self._set_aside(keys=[COUNTS, FOLDING])]
            if not answer:
                return Folded()
            counts = dict(zip(answer[::2], answer[1::2], strict=True))
            token = counts.pop(TOKEN)
            views, clicks = _of_kind(VIEW, counts), _of_kind(CLICK, counts)
            # A batch of the previous release has no counts by day.
            views_by_day = {_view(name): count for name, count in _of_kind(VIEW_DAY, counts).items()}
            clicks_by_day = {
                Click(link_id, date.fromisoformat(day)): count
                for name, count in _of_kind(CLICK_DAY, counts).items()
                for link_id, _, day in [name.rpartition(":")]
            }
            folded = database_store.add_batch(token, views, clicks, now, days=Days(views_by_day, clicks_by_day))
            self._drop(keys=[FOLDING], args=[token])
        except RedisError as error:
            raise StoreUnavailable from error
        return folded


def _of_kind(prefix: str, counts: dict[str, str]) -> dict[str, int]:
    return {name.removeprefix(prefix): int(count) for name, count in counts.items() if name.startswith(prefix)}


def _view(name: str) -> View:
    user_id, profile_id, day, host = name.split(":", 3)
    return View(user_id, profile_id, date.fromisoformat(day), host)


def _salt_key(day: date) -> str:
    return f"{{visit}}:salt:{day.isoformat()}"


def _milliseconds(length: timedelta) -> int:
    return int(length.total_seconds() * 1000)
