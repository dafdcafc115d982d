"""manage.py unlock_badges: the job that gives the badge tiers which views, likes and comments have reached."""

from accounts.management.base import JobCommand
from lookup.editing import unlocking


class Command(JobCommand):
    help = "Unlock the badge tiers that the counters have reached since the last time."

    def perform(self) -> str:
        return f"Unlocked {unlocking.unlock(after_batch=self.renew)} tiers."
