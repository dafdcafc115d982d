"""manage.py export_audit: the audit trail on standard output."""

from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.management import BaseCommand, CommandError

from accounts import audit
from accounts.audit import Format


class Command(BaseCommand):
    help = "Writes the audit trail to standard output, oldest event first. The export is an audit event itself."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--since", required=True, metavar="DAY", help="The first day (2026-11-01), in UTC.")
        parser.add_argument("--until", metavar="DAY", help="The last day; default: until now.")
        parser.add_argument("--action", default="", help="For example user:banned, or user for all of them.")
        parser.add_argument("--format", default=Format.JSONL.value, choices=[kind.value for kind in Format])

    def handle(self, *args: Any, **options: Any) -> None:
        since, until = (_day(options[name]) for name in ("since", "until"))
        if since is None:
            raise CommandError("Give the first day by --since.")
        selection = audit.select_days(since=since, until=until, action=options["action"])
        file_format = Format(options["format"])
        audit.record_export(selection, file_format=file_format, by=None)
        for lines in audit.export_lines(selection, file_format=file_format):
            self.stdout.write(lines, ending="")


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise CommandError(f"{text} is no day such as 2026-11-01.") from None
