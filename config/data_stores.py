"""How the service keeps its data: PostgreSQL, Redis or the caches that replace it, folders or an S3 bucket."""

from pathlib import Path
from typing import Any

from config import env
from infrastructure.databases.waits import KEEPALIVES, OUTAGE_SECONDS


def address(url: str) -> dict[str, Any]:
    """Return the part of an entry of DATABASES that an address names, which `env.database_url` has checked."""
    from psycopg import conninfo  # the embedded default has no PostgreSQL

    given = conninfo.conninfo_to_dict(url)
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    entry: dict[str, Any] = {name: given.pop(part, "") for name, part in names.items()}
    return {**entry, "OPTIONS": given}


def postgresql(
    given: dict[str, Any], *, pool_size: int, are_prepared: bool, is_pooled_by_transaction: bool = False
) -> dict[str, Any]:
    """Return the entry of DATABASES without the address. `given`: the options in DATABASE_URL.

    A `pool_size` of 0: each thread keeps a connection of its own, which costs nothing to take. Otherwise the threads
    share that many, which suits more threads than the server has connections for. `is_pooled_by_transaction`: a pooler
    outside the process gives each transaction any connection to the server.
    """
    pool: dict[str, Any] = {}
    if pool_size:  # a failed connection is retried when the next one is needed
        limits = {"min_size": min(pool_size, 2), "max_size": pool_size, "timeout": 1.5, "reconnect_timeout": 0}
        pool = {"pool": limits}
    return {
        "ENGINE": "infrastructure.databases.postgresql",  # Django's, with a deadline
        "CONN_MAX_AGE": 0 if pool_size else None,
        # Django's cursors on the server outlive the transaction, and with it the pooler's connection.
        "DISABLE_SERVER_SIDE_CURSORS": is_pooled_by_transaction,
        "CONN_HEALTH_CHECKS": not pool_size,  # once a page; what answers API requests replaces an ended one by itself
        "OPTIONS": {
            "connect_timeout": OUTAGE_SECONDS,
            "tcp_user_timeout": OUTAGE_SECONDS * 1000,
            **KEEPALIVES,
            **given,
            "server_side_binding": True,
            # Planning takes longer than running these statements; psycopg prepares what it has sent five times.
            "prepare_threshold": 5 if are_prepared else None,
            **pool,
        },
    }


TIMEOUTS = {"SOCKET_CONNECT_TIMEOUT": 1, "SOCKET_TIMEOUT": 1}  # seconds; a hanging Redis holds no worker
REDIS_OPTIONS: dict[str, Any] = {**TIMEOUTS, "REDIS_CLIENT_CLASS": "infrastructure.redis_connection.TimedRedis"}


def redis_options() -> dict[str, Any]:
    """Return OPTIONS of each cache in Redis.

    With REDIS_SENTINELS the host in REDIS_URL is the name of the primary, whose address the sentinels know. Its
    replicas are not read: they may be behind.
    """
    env.refuse("REDIS_CLUSTER", "unset it, and name one Redis in REDIS_URL, or sentinels in REDIS_SENTINELS.")
    sentinels = env.addresses("REDIS_SENTINELS")
    if not sentinels:
        return REDIS_OPTIONS
    password = env.text("REDIS_SENTINEL_PASSWORD", "")
    timeouts = {name.lower(): seconds for name, seconds in TIMEOUTS.items()}
    return {
        **REDIS_OPTIONS,
        "CONNECTION_FACTORY": "django_redis.pool.SentinelConnectionFactory",
        "SENTINELS": sentinels,
        "SENTINEL_KWARGS": {**timeouts, **({"password": password} if password else {})},
    }


LOCAL = "django.core.cache.backends.locmem.LocMemCache"
PAGES = {"BACKEND": LOCAL, "LOCATION": "pages", "TIMEOUT": 3600, "OPTIONS": {"MAX_ENTRIES": 1000}}
# Of the cache in the process: places and tokens of 500 event streams, and copies of sessions. Django's 300 would forget
# some that still count.
MOST_ENTRIES = 10_000


def caches(
    redis_url: str, options: dict[str, Any] = REDIS_OPTIONS, *, presence_url: str = ""
) -> dict[str, dict[str, Any]]:
    """Return CACHES. Without Redis the cache is in the process, and presence, which processes share, in the database.
    HTML of pages is always in the process (infrastructure.requests.kept_html).

    `presence_url`: a Redis for presence only.
    """
    if not redis_url:
        return {
            "default": {"BACKEND": LOCAL, "OPTIONS": {"MAX_ENTRIES": MOST_ENTRIES}},
            "pages": PAGES,
            "presence": {
                "BACKEND": "presence.store.database_cache.PresenceDatabaseCache",
                "LOCATION": "presence_storeentry",
                "TIMEOUT": None,
            },
        }
    presence_options = REDIS_OPTIONS if presence_url else options
    return {
        "pages": PAGES,
        "default": {
            "BACKEND": "django_redis.cache.RedisCache",
            "LOCATION": redis_url,
            "KEY_PREFIX": "cache",
            "OPTIONS": dict(options),
        },
        "presence": {
            "BACKEND": "presence.store.redis_cache.PresenceRedisCache",
            "LOCATION": presence_url or redis_url,
            "KEY_PREFIX": "chat",
            "OPTIONS": dict(presence_options),
            "TIMEOUT": None,
        },
    }


def file_storage(directory: Path, *, variable: str, is_read_by_group: bool = False) -> dict[str, Any]:
    """Return an entry of Django's STORAGES: a bucket where S3_BUCKET is set, else a folder.

    `directory`: the folder, where the environment's `variable` names no other one. A bucket has prefixes instead.
    `is_read_by_group`: another web server, whose user is in this one's group, sends what lies in the folder.
    """
    bucket = env.text("S3_BUCKET", "")
    if not bucket:
        location = Path(env.text(variable, str(directory))).resolve()
        modes = {"file_permissions_mode": 0o640, "directory_permissions_mode": 0o750} if is_read_by_group else {}
        return {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": location, **modes}}
    # Some stores refuse the checksums that the client adds on its own.
    checksums = env.choice("S3_CHECKSUMS", "when_required", ("when_required", "when_supported"))
    return {
        "BACKEND": "imagehost.storing.storage.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": env.text("S3_ENDPOINT_URL", "") or None,  # None: the one of the region
            "region_name": env.text("S3_REGION", "us-east-1"),
            "access_key": env.text("S3_ACCESS_KEY"),
            "secret_key": env.text("S3_SECRET_KEY"),
            "addressing_style": env.choice("S3_ADDRESSING_STYLE", "path", ("path", "virtual", "auto")),
            "checksums": checksums,
            "public_url": env.base_url("S3_PUBLIC_URL", ""),
        },
    }
