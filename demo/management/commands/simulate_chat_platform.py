"""manage.py simulate_chat_platform: a local chat platform, whose members are the users who linked their account."""

from __future__ import annotations

import errno
import logging
import os
import signal
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error as AnyDatabaseError

from accounts.jobs import let_go_of_connections
from accounts.models import LinkedAccount
from demo.chat_platform import members, running
from demo.chat_platform.running import Simulator
from infrastructure import signal_waiter
from infrastructure.signal_waiter import SignalWaiter

ENDS = (signal.SIGTERM, signal.SIGINT)
LOOK_AT_ACCOUNTS = 5.0  # seconds; newly linked accounts join the chat server
LOOK_AT_PARENT = 2.0
MEMBERS = 120
LAST_PORT = 65_535

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = (
        "Run a simulated chat platform on 127.0.0.1 until SIGTERM or Ctrl-C: gateway, REST, OAuth and a scrobbler, "
        "with members whose presence changes by itself. For trying out; CHAT_GUILD_ID names a real one."
    )

    requires_system_checks = []  # they are for the deploy: here they would double the time of a start

    _latest = 0  # key of the last linked account that was read

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, help="listen there; default: CHAT_SIMULATOR_PORT")
        parser.add_argument("--members", type=int, default=MEMBERS, help=f"in all, at least; default: {MEMBERS}")
        parser.add_argument("--parent", type=int, metavar="PID", help="end when this parent process does")

    def handle(self, *args: Any, port: int | None, members: int, parent: int | None, **options: Any) -> None:
        port = port if port is not None else settings.CHAT.simulator_port
        if not port:
            raise CommandError(
                "The chat platform of the settings is no simulated one. With --port it runs all the same."
            )
        if not 0 < port <= LAST_PORT:
            raise CommandError(f"The port must be 1 to {LAST_PORT}.")
        with signal_waiter.opened(*ENDS) as waiter:
            try:
                self._run(waiter, port, members, parent)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise CommandError(f"Nothing can listen on port {port}: {error.strerror}.") from error
                raise CommandError(
                    f"Port {port} is taken: perhaps a simulated chat platform is running already. "
                    f"Choose another one with --port or CHAT_SIMULATOR_PORT."
                ) from error

    def _run(self, waiter: SignalWaiter, port: int, members: int, parent: int | None) -> None:
        chat = settings.CHAT
        with Simulator.started(
            port=port,
            guild_id=chat.guild_id or running.GUILD,
            bot_token=chat.bot_token or None,
            oauth_secret=chat.oauth_client_secret or running.SECRET,
            is_alive=True,
            furnish=lambda platform: self._furnish(platform, members),
        ) as platform:
            self.stdout.write(f"Simulated chat platform with {platform.count()} members on {platform.url}.")
            self.stdout.flush()
            self._stay(waiter, platform, parent)

    def _furnish(self, platform: Simulator, count: int) -> None:
        platform.limits_full_requests = True
        platform.feature(members.ADA, members.CLEO)
        for stranger in members.strangers():
            platform.add_account(stranger["id"], **stranger)
        self._take_in(platform)
        platform.populate(max(count - platform.count(), 0))

    def _stay(self, waiter: SignalWaiter, platform: Simulator, parent: int | None) -> None:
        looks_at = time.monotonic() + LOOK_AT_ACCOUNTS
        while not waiter.wait(LOOK_AT_PARENT):
            if parent is not None and os.getppid() != parent:
                return
            if time.monotonic() >= looks_at:
                for chat_id in self._take_in(platform):
                    platform.feature(chat_id)  # so that its presence changes soon
                looks_at = time.monotonic() + LOOK_AT_ACCOUNTS

    def _take_in(self, platform: Simulator) -> list[str]:
        """Add members for the chat accounts that were linked since the last look; return their ids."""
        linked = LinkedAccount.objects.filter(kind=LinkedAccount.Kind.CHAT, pk__gt=self._latest).order_by("pk")
        joined = []
        try:
            for account in linked.iterator():
                self._latest = account.pk
                if self._join(platform, account.external_id, account.name.lower()):
                    joined.append(account.external_id)
        except AnyDatabaseError:  # it is restarted, or still to be migrated: the next look finds them
            logger.exception("The linked accounts cannot be read")
        finally:
            let_go_of_connections()
        return joined

    def _join(self, platform: Simulator, chat_id: str, name: str) -> bool:
        """Add one member; False for a member and for an id of another platform. An account keeps its user object."""
        if not (chat_id.isascii() and chat_id.isdigit()) or platform.is_member(chat_id):
            return False
        if chat_id in members.words.PROFILES:
            platform.add_member(
                chat_id, member=members.featured_member(chat_id, name), profile=members.words.PROFILES[chat_id]
            )
        else:
            new = members.newcomer(chat_id, name)
            user = platform.account(chat_id)
            platform.add_member(chat_id, member=new.member, user=user, presence=new.presence, profile=new.profile)
        return True
