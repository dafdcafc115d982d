"""manage.py doctor: checks every setting against the real thing, and says what to do about what is wrong.

Run it on each host, as the user of the service. It writes small objects of its own to Redis and to the store of the
files, and removes them.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from redis.exceptions import RedisError

from config.doctor import Check, Finding, Level, edge, failure, files, installation, servers
from imagehost.storing.storage import StorageFailed
from presence.store.store import StoreUnavailable

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
        yield failure(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}", FIX)


class Command(BaseCommand):
    help = (
        "Check each setting against the real thing, and say what to do about what is wrong: database, Redis, clocks, "
        "files, disk, mail, the edge proxy, certificate, signing keys, jobs. Exit code 1 where something fails."
    )
    requires_system_checks = ()  # `settings` shows what they say, with the rest

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"only these: {', '.join(CHECKS)}")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen: list[str] = options["checks"] or list(CHECKS)
        if unknown := [name for name in chosen if name not in CHECKS]:
            raise CommandError(f"There is no check {unknown[0]!r}; there are: {', '.join(CHECKS)}.")
        seen = [self._tell(name, finding) for name in chosen for finding in examine(name)]
        failures, warnings = seen.count(Level.FAILURE), seen.count(Level.WARNING)
        if failures:
            raise CommandError(f"{failures} failures, {warnings} warnings.")
        self.stdout.write(self.style.SUCCESS(f"Well, with {warnings} warnings." if warnings else "All is well."))

    def _tell(self, name: str, finding: Finding) -> Level:
        styles = {Level.OK: self.style.SUCCESS, Level.WARNING: self.style.WARNING, Level.FAILURE: self.style.ERROR}
        self.stdout.write(f"{styles[finding.level](f'{finding.level:<8}')} {name}: {finding.text}")
        if finding.fix:
            self.stdout.write(f"{'':<8} → {finding.fix}")
        self.stdout.flush()
        return finding.level
