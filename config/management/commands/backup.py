"""manage.py backup: a copy of the database and of the files."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from accounts import jobs
from config.operations import backups
from config.operations.backups import BackupFailed, BackupRunning


class Command(BaseCommand):
    help = (
        "Copy the database and the stored files into a new folder in DIRECTORY. Files that an earlier backup there has "
        "take no room again. The service may run meanwhile. Files in S3_BUCKET and the secrets of the environment are "
        "not in it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--keep", type=int, default=0, help="How many stay, this one too; 0, the default: all.")
        parser.add_argument("directory", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        jobs.plant([backups.RUN])  # /metrics also shows that none has ever ended
        started_at = timezone.now()
        try:
            made = backups.make(options["directory"], now=started_at, kept=max(options["keep"], 0))
        except BackupRunning as error:
            raise CommandError(str(error)) from None
        except (BackupFailed, OSError) as error:
            _note(started_at, error)
            raise CommandError(str(error)) from None
        _note(started_at, made)
        counts = backups.about(made)["files"]
        self.stdout.write(f"{made}: the database and {sum(counts.values())} files.")
        if not counts:
            self.stdout.write("Files lie in S3_BUCKET: let its provider keep versions or copies of it.")
        where = f"in {settings.VAR_DIR / 'secrets.json'}" if settings.EMBEDDED else "of the environment"
        self.stdout.write(f"Keep the secrets {where} with it: SECRET_KEY and SIGNING_KEY_ENCRYPTION_KEYS.")


def _note(started_at: datetime, outcome: Path | Exception) -> None:
    """Write the outcome for /metrics. The row is held for that only: a lock in the directory keeps other backups away,
    and one into another directory may run concurrently."""
    jobs.let_go_of_connections()
    with transaction.atomic():
        lease = jobs.take(name=backups.RUN, length=timedelta(0), by=jobs.new_holder())
        if lease is None:
            return
        lease = replace(lease, taken_at=started_at)
        if isinstance(outcome, Exception):
            jobs.fail(lease=lease, error=outcome)
        else:
            jobs.succeed(lease=lease, message=str(outcome))
