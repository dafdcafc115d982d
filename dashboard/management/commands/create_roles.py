"""manage.py create_roles: the groups of staff."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand

from accounts.management.base import command_error
from dashboard import roles


class Command(BaseCommand):
    help = (
        "Makes a group for each role of staff, and adds permissions that a group lacks, as after an upgrade. What "
        "operators added to a group stays. Safe at any time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--exact", action="store_true", help="Remove from these groups what their role does not have."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            changes = roles.create(is_exact=options["exact"])
        except ValidationError as error:
            raise command_error(error) from None
        for change in changes:
            done = [f"{len(change.added)} permissions added"] if change.added else []
            done += [f"removed: {', '.join(change.removed)}"] if change.removed else []
            self.stdout.write(f"{change.role}: {'; '.join(done) or 'nothing to do'}")
