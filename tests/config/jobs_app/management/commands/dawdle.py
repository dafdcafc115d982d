import time

from accounts.management.job_command import JobCommand


class Command(JobCommand):
    """Takes a second."""

    def perform(self) -> str:
        time.sleep(1)
        return "Dawdled."
