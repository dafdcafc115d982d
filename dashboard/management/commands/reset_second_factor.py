"""manage.py reset_second_factor: for an operator who lost theirs, where no other one can reset it in the admin."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError

from accounts.management.base import command_error, user_named
from dashboard.staff import actions


class Command(BaseCommand):
    help = "Removes a user's second factor and recovery codes, ends their sessions and writes to them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--reason", required=True, help="Kept in the audit trail.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["reason"].strip():
            raise CommandError("Give a reason: it is kept in the audit trail.")
        user = user_named(options["username"])
        try:
            actions.reset_second_factor(user=user, by=None, reason=options["reason"].strip())
        except ValidationError as error:
            raise command_error(error) from None
        self.stdout.write(f"The second factor of {user.username} is removed. Their password works as before.")
