"""manage.py seed_demo"""

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from demo.population import growth
from demo.population.growth import Progress


class Command(BaseCommand):
    help = (
        "Makes invented users with profiles, comments and views, the same ones for the same seed. What it made before "
        "it does not make again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--users", type=int, required=True, help="How many there are to be; 0: catalogs only.")
        parser.add_argument("--seed", type=int, default=1, help="Another seed makes other users beside the first ones.")
        parser.add_argument("--yes", action="store_true", help="Needed where DATABASE_URL is set.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["users"] < 0:
            raise CommandError("--users: 0 or more.")
        if not settings.EMBEDDED and not options["yes"]:
            raise CommandError("DATABASE_URL is set: say --yes to put invented users into that database.")
        self._started = time.monotonic()
        made = growth.grow(users=options["users"], seed=options["seed"], now=timezone.now(), report=self._report)
        if made:
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        self.stdout.write(f"Made {made} users; {options['users']} of this seed are there.")

    def _report(self, progress: Progress) -> None:
        rate = progress.done / max(time.monotonic() - self._started, 0.001)
        minutes, seconds = divmod(int((progress.users - progress.done) / rate), 60)
        left = f"{minutes}:{seconds:02} left"
        self.stderr.write(f"{progress.done:,} of {progress.users:,} users, {rate:,.0f} a second, {left}")
