"""manage.py issue_api_key"""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from accounts.api_keys import keys
from accounts.management.base import command_error, user_named
from accounts.models import Permission


class Command(BaseCommand):
    help = "Issues an API key and prints it: it cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--owner", required=True, metavar="USERNAME")
        parser.add_argument(
            "--permission",
            required=True,
            action="extend",
            nargs="+",
            metavar="PERMISSION",
            help=f"One or more of: {', '.join(Permission.values)}.",
        )
        parser.add_argument("--name", default="", help="To tell the key from others.")
        parser.add_argument("--expires-in-days", type=int, metavar="DAYS", help="Default: the key does not end.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["expires_in_days"]
        if days is not None and not 1 <= days <= 36_500:
            raise CommandError("--expires-in-days must be between 1 and 36500.")
        try:
            issued = keys.issue(
                owner=user_named(options["owner"]),
                permissions=options["permission"],
                name=options["name"],
                expires_at=None if days is None else timezone.now() + timedelta(days=days),
                by=None,
            )
        except ValidationError as error:
            raise command_error(error) from None
        key = issued.key
        facts = {"id": key.pk, "key": issued.secret, "prefix": key.prefix, "permissions": key.permissions}
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            self.stdout.write("\n".join(f"{name}: {value}" for name, value in facts.items()))
