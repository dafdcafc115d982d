"""manage.py create_operator"""

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError

from accounts import users
from accounts.management.base import command_error


class Command(BaseCommand):
    help = "Makes a superuser, or staff with a role, who can sign in at once: their email address counts as confirmed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", required=True)
        parser.add_argument(
            "--role", help="Member of staff with this role alone, such as Support (create_roles makes them)."
        )
        parser.add_argument(
            "--password-stdin", action="store_true", help="Read the password from standard input; default: ask for it."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        role = None
        if options["role"] and (role := Group.objects.filter(name__iexact=options["role"]).first()) is None:
            names = ", ".join(Group.objects.order_by("name").values_list("name", flat=True)) or "none"
            message = f"There is no role {options['role']}; there are: {names}. Run manage.py create_roles first."
            raise CommandError(message)
        password = self._read() if options["password_stdin"] else self._ask()
        account = {"username": options["username"], "email": options["email"]}
        try:
            user = users.create_operator(**account, password=password, role=role)
        except ValidationError as error:
            raise command_error(error) from None
        kind = f"the operator {user.username}" if role is None else f"{user.username}, {role.name}"
        self.stdout.write(f"Made {kind} (uid {user.uid}).")

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
