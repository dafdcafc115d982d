"""manage.py check_documents: does what lookups serve say what the tables say?"""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from lookup import document_checks


class Command(BaseCommand):
    help = "Compare the read model and the counters with the tables; names every difference and fails if there is one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="Render and count anew what differs.")

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        for difference in document_checks.differences(is_repairing=options["repair"]):
            found += 1
            self.stdout.write(str(difference))
        if found and not options["repair"]:
            raise CommandError(f"{found} differences; --repair mends them.")
        self.stdout.write(f"{found} differences mended." if found else "The documents say what the tables say.")
