"""manage.py unlock_badges: the job that gives the badge tiers which views, likes and comments have reached."""

from accounts.management.base import JobCommand
from lookup.editing import badge_tiers


class Command(JobCommand):
    help = "Unlock the badge tiers that the counters have reached since the last time."

    def perform(self) -> str:
        return f"Unlocked {badge_tiers.unlock(after_batch=self.renew)} tiers."
