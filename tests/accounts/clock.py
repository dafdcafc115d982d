"""Moments, and how to reach them."""

import math
from datetime import UTC, datetime

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def let_redis_pass(seconds: float) -> None:
    """Redis has a clock of its own, which no test can move: shorten what is left of every key."""
    from django_redis import get_redis_connection

    redis = get_redis_connection("default")
    for key in redis.scan_iter():
        redis.pexpire(key, redis.pttl(key) - math.ceil(seconds * 1000))  # one that is not positive deletes the key
