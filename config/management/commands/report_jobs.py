"""manage.py report_jobs: the job that writes to the operators about the other jobs."""

from django.utils import timezone

from accounts.management.base import JobCommand
from config.operations import job_reports


class Command(JobCommand):
    help = "Write to the operators about jobs that keep failing or are late for an hour, and when they work again."

    def perform(self) -> str:
        """Report. A mail server that takes nothing is no failure of the job: /readyz counts it."""
        return job_reports.report(timezone.now())
