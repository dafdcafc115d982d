"""Deduplicates requests to outside servers across processes.

It saves calls and is no lock: where the store does not answer, every process may send the request.
"""

from __future__ import annotations

import logging

from django.core.cache import caches
from django.db import Error as AnyDatabaseError
from django_redis.exceptions import ConnectionInterrupted
from redis import RedisError

from accounts import jobs

_FAILURES = (RedisError, ConnectionInterrupted, AnyDatabaseError, OSError)
logger = logging.getLogger(__name__)


def take(name: str, seconds: int) -> bool:
    """Whether this process sends the request. The claim expires after `seconds`."""
    try:
        return bool(caches["presence"].add(_key(name), 1, seconds))
    except _FAILURES as error:
        logger.warning("The presence store does not answer for the request %s: %s", name, jobs.described(error))
        return True


def end(name: str) -> None:
    """Release the claim."""
    try:
        caches["presence"].delete(_key(name))
    except _FAILURES as error:
        logger.warning("The presence store keeps the claim on %s until it expires: %s", name, jobs.described(error))


def _key(name: str) -> str:
    return f"turn:{name}"
