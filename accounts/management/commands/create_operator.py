"""manage.py create_operator"""

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError

from accounts import users
from accounts.management.base import command_error


class Command(BaseCommand):
    help = "Makes a superuser with a confirmed e-mail address, who can sign in at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", required=True)
        parser.add_argument(
            "--password-stdin", action="store_true", help="Read the password from standard input; default: ask for it."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        password = self._read() if options["password_stdin"] else self._ask()
        try:
            user = users.create_operator(username=options["username"], email=options["email"], password=password)
        except ValidationError as error:
            raise command_error(error) from None
        self.stdout.write(f"Made the operator {user.username} (uid {user.uid}).")

    def _read(self) -> str:
        password = sys.stdin.readline().rstrip("\r\n")
        if not password:
            raise CommandError("Standard input held no password.")
        return password

    def _ask(self) -> str:
        if not sys.stdin.isatty():
            raise CommandError("There is no terminal to ask for the password: use --password-stdin.")
        password = getpass("Password: ")
        if password != getpass("Password (again): "):
            raise CommandError("The two passwords differ.")
        return password
