"""manage.py sweep_assets: the job that removes uploads of profiles that nothing shows any more, and old statistics."""

from django.utils import timezone

from accounts.management.base import JobCommand
from lookup.editing import uploads
from lookup.visits import daily_counts


class Command(JobCommand):
    help = (
        "Remove files that no profile has shown for a day, objects in the store that no row knows, and the views, "
        "clicks and downloads of days a year ago."
    )

    def perform(self) -> str:
        days = daily_counts.forget(timezone.now(), after_batch=self.renew)
        files, objects = uploads.sweep(now=timezone.now(), after_each=self.renew)
        return (
            f"Removed {files} files that nothing shows, {objects} objects that nothing knows, and {days} rows of "
            "old days."
        )
