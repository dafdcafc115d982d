"""manage.py load_badges"""

from typing import Any

from django.core.management import BaseCommand

from lookup.editing import catalogue_badges


class Command(BaseCommand):
    help = "Makes the badges and tiers of the catalog that are missing; what staff changed stays as it is."

    def handle(self, *args: Any, **options: Any) -> None:
        badges, tiers = catalogue_badges.load_missing()
        self.stdout.write(f"Badges made: {badges}, tiers made: {tiers}.")
