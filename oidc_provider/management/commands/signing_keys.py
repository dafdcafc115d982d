"""manage.py signing_keys: manages the keys that sign id_tokens."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.webhooks import signatures
from oidc_provider import lifetimes
from oidc_provider.errors import SigningUnavailable
from oidc_provider.models import SigningKey
from oidc_provider.token import signing
from oidc_provider.token.signing import KeyNotReady


class Command(BaseCommand):
    help = (
        "Rotate the key that signs id_tokens: publish a new one, wait until clients have it "
        f"({lifetimes.in_words(2 * int(settings.DISCOVERY_CACHE_TIME.total_seconds()))}), let "
        "it sign; the earlier key leaves the key set when its last id_token has expired. retire removes a key early."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        steps.add_parser("publish", help="make a key and put it into the key set")
        steps.add_parser("ensure", help="make a key that signs at once, where none signs: for the first start")
        steps.add_parser("reencrypt", help="encrypt private keys and secrets of webhooks anew")
        for step, text in (("sign", "let a published key sign"), ("retire", "take a key out of the key set")):
            step_parser = steps.add_parser(step, help=text)
            step_parser.add_argument("kid")
            step_parser.add_argument("--force", action="store_true", help="at once, after a compromise")
        lister = steps.add_parser("list", help="every key and its state")
        lister.add_argument("--json", action="store_true")

    def handle(self, *args: Any, step: str, **options: Any) -> None:
        try:
            if step == "publish":
                key = signing.publish()
                moment = f"{key.may_sign_from():%Y-%m-%d %H:%M:%S} UTC"
                self.stdout.write(f"{key.kid} is published; it may sign from {moment}.")
            elif step == "ensure":
                self.stdout.write(f"{signing.ensure_signing_key().kid} signs.")
            elif step == "sign":
                self.stdout.write(f"{signing.sign_with(kid=options['kid'], force=options['force']).kid} signs now.")
            elif step == "retire":
                key = signing.retire(kid=options["kid"], force=options["force"])
                self.stdout.write(f"{key.kid} leaves the key set at {key.unpublish_at:%Y-%m-%d %H:%M:%S} UTC.")
            elif step == "reencrypt":
                self._reencrypt()
            else:
                self._list(as_json=options["json"])
        except SigningKey.DoesNotExist:
            raise CommandError(f"There is no key {options['kid']}.") from None
        except KeyNotReady as not_ready:
            raise CommandError(f"{not_ready} --force does it at once.") from None
        except SigningUnavailable as unavailable:
            raise CommandError(f"{unavailable} Nothing was changed.") from None

    def _reencrypt(self) -> None:
        changed = signing.reencrypt()
        for kid in changed:
            self.stdout.write(f"{kid} is encrypted with the first of SIGNING_KEY_ENCRYPTION_KEYS now.")
        if count := signatures.reencrypt():
            self.stdout.write(f"{count} secrets of webhooks are encrypted with it, too.")
        if unreadable := signatures.unreadable():
            self.stdout.write(f"{unreadable} webhooks CANNOT SIGN: no secret fits. Their owners have to rotate theirs.")
        if signatures.encrypted_by_earlier() > unreadable:  # its old secret was read before and kept after
            raise CommandError("A webhook was rotated meanwhile and still needs another secret. Run this again.")
        self.stdout.write(f"{len(changed)} keys changed. The other secrets are no longer needed: remove them.")

    def _list(self, *, as_json: bool) -> None:
        now = timezone.now()
        rows = [
            {
                "kid": key.kid,
                "state": key.state(now),
                "is_readable": signing.is_readable(key),
                "created_at": key.created_at.isoformat(),
                "unpublish_at": key.unpublish_at.isoformat() if key.unpublish_at else None,
            }
            for key in SigningKey.objects.order_by("-created_at", "kid")
        ]
        if as_json:
            self.stdout.write(json.dumps(rows, indent=2))
        for row in [] if as_json else rows:
            until = f", leaves the key set {row['unpublish_at']}" if row["unpublish_at"] else ""
            wrong = "" if row["is_readable"] else ", CANNOT BE DECRYPTED: no secret of SIGNING_KEY_ENCRYPTION_KEYS fits"
            self.stdout.write(f"{row['kid']}  {row['state']}{until}{wrong}")
