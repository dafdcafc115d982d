"""manage.py register_app"""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import BaseCommand, CommandError
from django.db import transaction

from accounts.management.base import command_error, user_named
from accounts.models import User
from oidc_provider.applications import applications, transfers
from oidc_provider.applications.applications import RegisteredApp
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Team


class Command(BaseCommand):
    help = "Registers an app and prints its client id and secret: the secret cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        several: dict[str, Any] = {"required": True, "action": "extend", "nargs": "+"}
        parser.add_argument("--owner", required=True, metavar="USERNAME")
        parser.add_argument("--team", type=int, metavar="ID", help="A team of which the owner is an owner.")
        parser.add_argument("--name", required=True)
        parser.add_argument("--redirect", metavar="URL", **several)
        parser.add_argument("--scope", metavar="SCOPE", help=f"One or more of: {', '.join(SCOPES)}.", **several)
        parser.add_argument("--logout-url", metavar="URL", default="", help="Where the app is told of sign-outs.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    @transaction.atomic
    def _registered(self, owner: User, options: dict[str, Any]) -> RegisteredApp:
        registered = applications.register(
            owner=owner,
            name=options["name"],
            redirect_urls=options["redirect"],
            scopes=options["scope"],
            backchannel_logout_uri=options["logout_url"],
            by=None,
        )
        if options["team"] is not None:
            team = Team.objects.filter(pk=options["team"]).first()
            if team is None:
                raise ValidationError({"team": "There is no team with this id."})
            transfers.transfer(application=registered.application, team=team, by=owner)
        return registered

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            registered = self._registered(user_named(options["owner"]), options)
        except ValidationError as error:
            raise command_error(error) from None
        except PermissionDenied as error:
            raise CommandError(str(error)) from None
        application = registered.application
        facts = {
            "client_id": application.client_id,
            "client_secret": registered.client_secret,
            "redirect_uris": application.redirect_urls,
            "scopes": application.registered_scopes,
            **({"backchannel_logout_uri": uri} if (uri := application.backchannel_logout_uri) else {}),
        }
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            for name, value in facts.items():
                self.stdout.write(f"{name}: {' '.join(value) if isinstance(value, list) else value}")
