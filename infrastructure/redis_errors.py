"""What the client libraries of Redis raise while it is away.

Where no Redis is configured, neither library is loaded: they take 13 MB of the programs of the embedded default.
"""

from django.conf import settings

AWAY: tuple[type[Exception], ...] = ()
if settings.REDIS_URL:
    from django_redis.exceptions import ConnectionInterrupted
    from redis.exceptions import RedisError

    AWAY = (ConnectionInterrupted, RedisError)
