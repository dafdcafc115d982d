"""manage.py free_reserved_names: once after an update that reserves further names."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError

from accounts.management.base import command_error
from dashboard.account import reserved_names


class Command(BaseCommand):
    help = (
        "Lists the reserved names that users took before they were reserved. With --apply each owner gets a similar "
        "name instead, and an email. Safe at any time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--apply", action="store_true", help="Change the names; default: only list them.")

    def handle(self, *args: Any, **options: Any) -> None:
        names, failed = reserved_names.held(), False
        for name in names:
            described = f"{name.name} ({name.get_kind_display().lower()} of uid {name.user.uid})"
            try:
                new = reserved_names.free(name) if options["apply"] else reserved_names.similar_to(name.name)
            except ValidationError as error:
                failed = True
                self.stderr.write(f"{described} stays: {command_error(error)}")
                continue
            arrow = "is now" if options["apply"] else "would become"
            self.stdout.write(f"{described} {arrow} {new}." if new else f"{described} was changed meanwhile.")
        if failed:
            raise CommandError("Some names stay. Run the command again.")
        if not names:
            self.stdout.write("No user has a reserved name.")
        elif not options["apply"]:
            self.stdout.write("Nothing was changed. Run the command with --apply.")
