"""manage.py doctor: is this installation well?"""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config import doctor
from config.doctor import Level


class Command(BaseCommand):
    help = (
        "Check each setting against the real thing, and say what to do about what is wrong: database, Redis, clocks, "
        "files, disk, mail, the edge proxy, certificate, signing keys, jobs. Exit code 1 where something fails."
    )
    requires_system_checks = ()  # `settings` shows what they say, with the rest

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"only these: {', '.join(doctor.CHECKS)}")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen: list[str] = options["checks"] or list(doctor.CHECKS)
        if unknown := [name for name in chosen if name not in doctor.CHECKS]:
            raise CommandError(f"There is no check {unknown[0]!r}; there are: {', '.join(doctor.CHECKS)}.")
        seen = [self._tell(name, finding) for name in chosen for finding in doctor.examine(name)]
        failures, warnings = seen.count(Level.FAILURE), seen.count(Level.WARNING)
        if failures:
            raise CommandError(f"{failures} failures, {warnings} warnings.")
        self.stdout.write(self.style.SUCCESS(f"Well, with {warnings} warnings." if warnings else "All is well."))

    def _tell(self, name: str, finding: doctor.Finding) -> Level:
        styles = {Level.OK: self.style.SUCCESS, Level.WARNING: self.style.WARNING, Level.FAILURE: self.style.ERROR}
        self.stdout.write(f"{styles[finding.level](f'{finding.level:<8}')} {name}: {finding.text}")
        if finding.fix:
            self.stdout.write(f"{'':<8} → {finding.fix}")
        self.stdout.flush()
        return finding.level
