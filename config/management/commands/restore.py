"""manage.py restore: what `manage.py backup` made becomes the service again."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.operations import backups
from config.operations.backups import BackupFailed


class Command(BaseCommand):
    help = (
        "Bring a backup back into the EMPTY database and the folders that the settings name, apply migrations that it "
        "lacks, and compare the rows with the files. Nothing that exists is overwritten. Stop the service before."
    )
    requires_system_checks = ()  # there is no table yet

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("backup", type=Path, help="the folder that manage.py backup named")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = backups.restore(options["backup"])
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"The database and {count} files are back.")
        call_command("migrate", interactive=False, verbosity=0)
        call_command("reconcile_files", "--all", stdout=self.stdout)
        self.stdout.write("Start the service, then run manage.py doctor.")
