"""manage.py import_profiles"""

from __future__ import annotations

import contextlib
import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management import BaseCommand, CommandError
from django.db import OperationalError

from infrastructure import worker_processes
from infrastructure.databases import bulk
from lookup.shapes.strict_fields import Problem
from lookup.transfer import importing
from lookup.transfer.importing import Outcome

MAX_SHOWN = 20  # problems of one line


class Command(BaseCommand):
    help = "Reads what export_profiles writes, one line of JSON for each user. A line is taken whole or refused whole."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="- is standard input.")
        parser.add_argument("--check", action="store_true", help="Only say what is wrong; write nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        number = Counter[str]()
        reader = importing.read_ahead if worker_processes.may_fork() else importing.read_here
        with self._opened(options["file"]) as file, bulk.rare_collections():
            try:
                for outcome in importing.run(file=file, is_check=options["check"], reader=reader):
                    self._report(outcome)
                    number["refused" if outcome.problems else "new" if outcome.is_new else "changed"] += 1
            except OperationalError as error:
                done = f"What it took of the {number.total()} lines before stays."
                raise CommandError(f"The database does not answer. {done} Import the file again.") from error
        done = "Could import" if options["check"] else "Imported"
        self.stdout.write(f"{done} {number['new'] + number['changed']} profiles, {number['new']} of them new.")
        if number["refused"]:
            raise CommandError(f"Refused {number['refused']} lines.")

    def _opened(self, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
        if name == "-":
            return contextlib.nullcontext(sys.stdin.buffer)
        try:
            return Path(name).open("rb")
        except OSError as error:
            raise CommandError(f"{name} cannot be read: {error.strerror}.") from None

    def _report(self, outcome: Outcome) -> None:
        for problem in outcome.problems[:MAX_SHOWN]:
            self._write(outcome.number, problem)
        if len(outcome.problems) > MAX_SHOWN:
            self._write(outcome.number, ("", f"And {len(outcome.problems) - MAX_SHOWN} more problems."))
        for path, sentence in () if outcome.problems else outcome.warnings:
            self._write(outcome.number, (path, f"Warning: {sentence}"))

    def _write(self, number: int, problem: Problem) -> None:
        """Write one line of ASCII; other characters are escaped."""
        said = ": ".join(part for part in (f"line {number}", *problem) if part)
        self.stderr.write(" ".join(said.split()).encode("ascii", "backslashreplace").decode())
