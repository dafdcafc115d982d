"""manage.py check_documents: compare what lookups serve with the tables."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import as_completed
from typing import Any

from django.core.management import BaseCommand, CommandError

from infrastructure import worker_processes
from infrastructure.databases import bulk
from lookup.documents import document_checks
from lookup.documents.document_checks import Difference, Part


class Command(BaseCommand):
    help = "Compare the read model and the counters with the tables; names every difference and fails if there is one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="Render and count anew what differs.")
        parser.add_argument(
            "--processes",
            type=int,
            choices=range(1, worker_processes.MOST + 1),
            default=worker_processes.number(),
            help="How many processes share the work, on PostgreSQL; without it, one for each core (at most 4).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        number = options["processes"] if worker_processes.may_fork() else 1
        with bulk.rare_collections():
            for difference in _differences(number, is_repairing=options["repair"]):
                found += 1
                self.stdout.write(str(difference))
        if found and not options["repair"]:
            raise CommandError(f"{found} differences; --repair mends them.")
        self.stdout.write(f"{found} differences mended." if found else "The documents say what the tables say.")


def _differences(number: int, *, is_repairing: bool) -> Iterator[Difference]:
    if number == 1:
        yield from document_checks.differences(is_repairing=is_repairing)
        return
    with worker_processes.pool(number) as pool:
        # More parts than processes: none waits long for the last one, and differences are shown early.
        parts = [pool.submit(_check, part, is_repairing=is_repairing) for part in document_checks.parts(number * 4)]
        for done in as_completed(parts):
            yield from done.result()


def _check(part: Part, *, is_repairing: bool) -> list[Difference]:
    return list(document_checks.differences(part, is_repairing=is_repairing))
