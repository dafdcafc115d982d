"""manage.py run_presence_gateway: holds the connection to the chat platform and writes the presence store."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from infrastructure.databases import waits
from infrastructure.metrics import metrics_server
from presence.gateway.hikari_feed import HikariFeed
from presence.gateway.payloads import FatalFeedError
from presence.store import store
from presence.worker.worker import Worker

ENDS = (signal.SIGTERM, signal.SIGINT)
LOOK_AT_PARENT = 2.0  # seconds
EXIT_CONFIG = 78  # sysexits(3): a restart does not help before the configuration has changed

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = (
        "Hold the connection to the chat platform's gateway and write everybody's presence, until SIGTERM or Ctrl-C. "
        "Two of these may run: one writes, the other takes over within seconds. Exit code 78: the platform refuses the "
        "bot, and starting again would not help."
    )

    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--parent", type=int, metavar="PID", help="end when this parent process does")

    def handle(self, *args: Any, parent: int | None, **options: Any) -> None:
        if not settings.CHAT.guild_id:
            raise CommandError("There is no chat server to read: set CHAT_GUILD_ID.", returncode=EXIT_CONFIG)
        waits.bound()  # what a member has hidden must not wait for a database that is gone
        try:
            with metrics_server.running():
                asyncio.run(_work(parent))
        except FatalFeedError as error:
            logger.critical("Live presence has ended: %s", error)
            raise SystemExit(EXIT_CONFIG) from error


async def _work(parent: int | None) -> None:
    """Run until a signal, or the end of the parent."""
    chat = settings.CHAT
    guild_id = int(chat.guild_id)
    feed = HikariFeed(guild_id=guild_id, token=chat.bot_token, api_url=chat.api_url)
    worker = Worker(guild_id=guild_id, feed=feed, store=store.opened())
    loop = asyncio.get_running_loop()
    for number in ENDS:
        loop.add_signal_handler(number, worker.stop)
    watch = asyncio.create_task(_watch(parent, worker))
    try:
        await worker.run()
    finally:
        watch.cancel()


async def _watch(parent: int | None, worker: Worker) -> None:
    """Stop the worker when the parent has ended."""
    while parent is not None:
        if os.getppid() != parent:
            worker.stop()
            return
        await asyncio.sleep(LOOK_AT_PARENT)
