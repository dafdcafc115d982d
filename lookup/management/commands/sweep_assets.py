"""manage.py sweep_assets: the job that removes uploads of profiles that nothing shows any more."""

from django.utils import timezone

from accounts.management.base import JobCommand
from lookup import uploads


class Command(JobCommand):
    help = "Remove files that no profile has shown for a day, and objects in the store that no row knows."

    def perform(self) -> str:
        files, objects = uploads.sweep(now=timezone.now(), after_each=self.renew)
        return f"Removed {files} files that nothing shows, and {objects} objects that nothing knows."
