"""Checks every setting against the real thing (`manage.py doctor`), and says what to do about what is wrong.

Run it on each host, as the user of the service. It writes small objects of its own to Redis and to the store of the
files, and removes them.
"""

from collections.abc import Iterator

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from redis.exceptions import RedisError

from config.doctor import edge, files, installation, servers
from config.doctor.findings import Check, Finding, Level, failure
from imagehost.storing.storage import StorageFailed
from presence.store.store import StoreUnavailable

__all__ = ["CHECKS", "Finding", "Level", "examine"]

# In the order in which they are mended: what comes later needs what comes before.
CHECKS: dict[str, Check] = {
    "settings": installation.settings_of_this_host,
    "database": servers.database,
    "migrations": installation.migrations,
    "signing keys": installation.signing_keys,
    "secrets": installation.old_secrets,
    "redis": servers.redis,
    "clock": servers.clocks,
    "files": files.stores,
    "disk": files.disks,
    "uploads": files.examination,
    "static files": installation.static_files,
    "mail": servers.mail,
    "address": edge.address,
    "certificate": edge.certificate,
    "event streams": edge.event_streams,
    "jobs": installation.periodic_jobs,
    "presence": installation.live_presence,
}
_AWAY = (DatabaseError, RedisError, StorageFailed, StoreUnavailable, ImproperlyConfigured, OSError)
FIX = "Look at the variables for it in docs/configuration.md, and whether it runs and can be reached from this host."


def examine(name: str) -> Iterator[Finding]:
    """Yield what the check of that name finds, as it finds it. What is away is a failure like any other."""
    try:
        yield from CHECKS[name]()
    except _AWAY as error:
        yield failure(f"{type(error).__name__}: {_first_line(error)}", FIX)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
