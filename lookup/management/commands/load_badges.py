"""manage.py load_badges"""

from typing import Any

from django.core.management import BaseCommand

from lookup.editing import badge_tiers


class Command(BaseCommand):
    help = "Makes the badges and tiers of the catalog that are missing; what staff changed stays as it is."

    def handle(self, *args: Any, **options: Any) -> None:
        badges, tiers = badge_tiers.load_missing()
        self.stdout.write(f"Badges made: {badges}, tiers made: {tiers}.")
