import time

from accounts.management.base import JobCommand


class Command(JobCommand):
    """Takes a second."""

    def perform(self) -> str:
        time.sleep(1)
        return "Dawdled."
