"""manage.py check_documents: does what lookups serve say what the tables say?"""

from __future__ import annotations

import multiprocessing
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.db import connection

from lookup import bulk, document_checks
from lookup.document_checks import Difference, Part

MOST_PROCESSES = 4


class Command(BaseCommand):
    help = "Compare the read model and the counters with the tables; names every difference and fails if there is one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="Render and count anew what differs.")
        parser.add_argument(
            "--processes",
            type=int,
            choices=range(1, MOST_PROCESSES + 1),
            default=min(MOST_PROCESSES, os.cpu_count() or 1),
            help="How many processes share the work, on PostgreSQL; without it, one for each core (at most 4).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        number = options["processes"] if _may_fork() else 1
        with bulk.rare_collections():
            for difference in _differences(number, is_repairing=options["repair"]):
                found += 1
                self.stdout.write(str(difference))
        if found and not options["repair"]:
            raise CommandError(f"{found} differences; --repair mends them.")
        self.stdout.write(f"{found} differences mended." if found else "The documents say what the tables say.")


def _may_fork() -> bool:
    """Other processes see no open transaction, SQLite has one writer, and forks are safe on Linux alone."""
    return connection.vendor == "postgresql" and not connection.in_atomic_block and sys.platform == "linux"


def _differences(number: int, *, is_repairing: bool) -> Iterator[Difference]:
    if number == 1:
        yield from document_checks.differences(is_repairing=is_repairing)
        return
    connection.close()  # a connection is never shared: each process opens its own
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL has it
    check = _check_and_repair if is_repairing else _check
    with multiprocessing.get_context("fork").Pool(number) as pool:
        # More parts than processes: none waits long for the last one, and differences are shown early.
        for found in pool.imap_unordered(check, document_checks.parts(number * 4)):
            yield from found


def _check(part: Part) -> list[Difference]:
    return list(document_checks.differences(part))


def _check_and_repair(part: Part) -> list[Difference]:
    return list(document_checks.differences(part, is_repairing=True))
