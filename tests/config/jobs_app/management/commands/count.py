from accounts.management.base import JobCommand


class Command(JobCommand):
    def perform(self) -> str:
        return "Counted 3 things."
