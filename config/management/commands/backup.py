"""manage.py backup: a copy of the database and of the files."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts import jobs
from config import backups
from config.backups import BackupFailed


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
        """Note the outcome for /metrics. The row's lease ends at once: a lock in the directory keeps others away."""
        lease = jobs.take(name=backups.RUN, length=timedelta(0), by=jobs.new_holder())
        try:
            made = backups.make(options["directory"], now=timezone.now(), kept=max(options["keep"], 0))
        except (BackupFailed, OSError) as error:
            if lease is not None:
                jobs.fail(lease=lease, error=error)
            raise CommandError(str(error)) from None
        if lease is not None:
            jobs.succeed(lease=lease, message=str(made))
        counts = backups.about(made)["files"]
        self.stdout.write(f"{made}: the database and {sum(counts.values())} files.")
        if not counts:
            self.stdout.write("Files lie in S3_BUCKET: let its provider keep versions or copies of it.")
        where = f"in {settings.VAR_DIR / 'secrets.json'}" if settings.EMBEDDED else "of the environment"
        self.stdout.write(f"Keep the secrets {where} with it: SECRET_KEY and SIGNING_KEY_ENCRYPTION_KEYS.")
