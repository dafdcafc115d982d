"""Whose turn it is, among all processes, to ask an outside server for something.

A courtesy that saves calls, and no lock: where the store does not answer, it is everybody's turn.
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
    """Whether it is ours. It ends by itself after so many seconds."""
    try:
        return bool(caches["presence"].add(_key(name), 1, seconds))
    except _FAILURES as error:
        logger.warning("The presence store does not say whose turn %s is: %s", name, jobs.described(error))
        return True


def end(name: str) -> None:
    """Let the next one have it."""
    try:
        caches["presence"].delete(_key(name))
    except _FAILURES as error:
        logger.warning("The presence store keeps the turn %s for a while: %s", name, jobs.described(error))


def _key(name: str) -> str:
    return f"turn:{name}"
