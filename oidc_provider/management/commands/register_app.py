"""manage.py register_app"""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand

from accounts.management.base import command_error, user_named
from oidc_provider.applications import applications
from oidc_provider.applications.scopes import SCOPES


class Command(BaseCommand):
    help = "Registers an app and prints its client id and secret: the secret cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        several: dict[str, Any] = {"required": True, "action": "extend", "nargs": "+"}
        parser.add_argument("--owner", required=True, metavar="USERNAME")
        parser.add_argument("--name", required=True)
        parser.add_argument("--redirect", metavar="URL", **several)
        parser.add_argument("--scope", metavar="SCOPE", help=f"One or more of: {', '.join(SCOPES)}.", **several)
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            registered = applications.register(
                owner=user_named(options["owner"]),
                name=options["name"],
                redirect_urls=options["redirect"],
                scopes=options["scope"],
                by=None,
            )
        except ValidationError as error:
            raise command_error(error) from None
        application = registered.application
        facts = {
            "client_id": application.client_id,
            "client_secret": registered.client_secret,
            "redirect_uris": application.redirect_urls,
            "scopes": application.registered_scopes,
        }
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            for name, value in facts.items():
                self.stdout.write(f"{name}: {' '.join(value) if isinstance(value, list) else value}")
