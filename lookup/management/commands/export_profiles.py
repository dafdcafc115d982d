"""manage.py export_profiles"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from accounts.management.base import user_named
from lookup.transfer import exporting


class Command(BaseCommand):
    help = "Writes one line of JSON for each user: what the current lookup answers with all of its includes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--output", metavar="FILE", help="Default: standard output.")
        parser.add_argument("--username", action="extend", nargs="+", metavar="NAME", help="Default: all users.")

    def handle(self, *args: Any, **options: Any) -> None:
        names = options["username"]
        user_ids = None if names is None else [user_named(name).pk for name in names]
        if options["output"] is None:
            # JSON is UTF-8, in every terminal.
            try:
                number = sum(self._print(line) for line in exporting.lines(user_ids=user_ids))
                sys.stdout.flush()
            except BrokenPipeError:  # the reader has seen enough, as in `export_profiles | head`
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return
        else:
            number = self._save(Path(options["output"]), user_ids)
        self.stderr.write(f"Exported {number} profiles.")
        if left_out := exporting.left_out(user_ids=user_ids):
            self.stderr.write(f"Left out {left_out} users who are banned or have turned public API access off.")

    def _print(self, line: bytes) -> int:
        buffer = getattr(self.stdout, "buffer", None)
        if buffer is None:
            self.stdout.write(line.decode())
        else:
            buffer.write(line + b"\n")
        return 1

    def _save(self, path: Path, user_ids: list[str] | None) -> int:
        """Write to another file first: `path` is complete, or it does not exist."""
        part = path.with_name(f"{path.name}.part")
        number = 0
        try:
            with part.open("wb") as file:
                for line in exporting.lines(user_ids=user_ids):
                    file.write(line + b"\n")
                    number += 1
            part.replace(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        finally:
            part.unlink(missing_ok=True)
        return number
