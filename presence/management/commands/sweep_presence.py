"""manage.py sweep_presence: the job that clears away what the presence store no longer shows."""

from accounts.management.base import JobCommand
from presence.store import store


class Command(JobCommand):
    help = "Remove what has expired from the presence store. Redis does that by itself, the database does not."

    def perform(self) -> str:
        return f"Removed {store.opened().clear_expired(self.renew)} expired entries."
