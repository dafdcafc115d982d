"""manage.py migrate: Django's, which tries again where a migration does not get a lock."""

import time
from typing import Any

from django.core.management.commands import migrate
from django.db import OperationalError

LOCK_NOT_AVAILABLE = "55P03"  # an SQLSTATE
TRIES = 100
PAUSE = 3.0  # seconds between two tries, in which the requests that waited behind the migration are answered


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """Apply the migrations. Each is a transaction, so a further try goes on where the last one gave up."""
        for left in reversed(range(TRIES)):
            try:
                super().handle(*args, **options)
            except OperationalError as error:
                if not left or getattr(error.__cause__, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                    raise
                self.stderr.write(f"A long transaction holds a lock. Next of {left} tries in {PAUSE:.0f} s.")
                time.sleep(PAUSE)
            else:
                return
