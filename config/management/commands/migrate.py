"""manage.py migrate: Django's, which makes a new database at once, and tries again where a migration gets no lock."""

import time
from collections import defaultdict
from typing import Any

from django.core.checks import Tags
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from config import checks
from config.operations import new_database

GIVEN_UP = {"55P03", "40P01"}  # SQLSTATEs: a lock was not available in time, or two waited for each other
TRIES = 100
PAUSE = 3.0  # seconds between two tries, in which the requests that waited behind the migration are answered
# With one of these options a database is migrated step by step.
OF_STEPS = ("app_label", "plan", "check_unapplied", "fake", "fake_initial", "prune", "run_syncdb")


class Command(migrate.Command):
    requires_system_checks = [Tags.models, Tags.database, checks.TAG]  # the rest load every view: half a second

    def handle(self, *args: Any, **options: Any) -> None:
        """Apply the migrations. Each is a transaction, so a further try goes on where the last one gave up."""
        database = options["database"]
        _check_replaced(database)
        is_step_by_step = any(options[name] for name in OF_STEPS)
        for left in reversed(range(TRIES)):
            try:
                count = 0 if is_step_by_step else new_database.create(database)
                if count and options["verbosity"]:
                    self.stdout.write(f"Made the tables of a new database, which {count} migrations lead to.")
                super().handle(*args, **options)
            except OperationalError as error:
                if not left or getattr(error.__cause__, "sqlstate", None) not in GIVEN_UP:
                    raise
                self.stderr.write(f"A long transaction holds a lock. Next of {left} tries in {PAUSE:.0f} s.")
                time.sleep(PAUSE)
            else:
                return


def _check_replaced(database: str) -> None:
    """Raise CommandError where an app has some of the migrations whose files are gone, and not all of them.

    Django would apply what stands for them to tables that exist, or leave it out without a word.
    """
    loader = MigrationLoader(None)
    replaced: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for (app, _), migration in loader.replacements.items():
        replaced[app] |= {*migration.replaces} - loader.disk_migrations.keys()
    applied = MigrationRecorder(connections[database]).applied_migrations().keys()
    for app, names in replaced.items():
        if names & applied and (missing := names - applied):
            raise CommandError(
                f"{app} lacks {len(missing)} of {len(names)} migrations that this release replaces, "
                f"{min(missing)[1]} first. Migrate with the previous release, which deploy/previous-release names."
            )
