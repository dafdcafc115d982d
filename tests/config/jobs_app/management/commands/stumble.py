from accounts.management.job_command import JobCommand


class Command(JobCommand):
    def perform(self) -> str:
        raise ZeroDivisionError("Nothing is left to divide by")
