from accounts.management.job_command import JobCommand


class Command(JobCommand):
    def perform(self) -> str:
        return "Tidied."
