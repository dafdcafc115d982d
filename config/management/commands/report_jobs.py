"""manage.py report_jobs: writes to the operators when a job keeps failing or is late for long, and when it works again.

A job's row notes whether its failure is reported. A conditional UPDATE changes it before the email is sent, so two
runners never send one report twice, and changes it back where the mail server fails: the next run retries.
"""

from __future__ import annotations

import logging
import smtplib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from accounts import mail
from accounts.jobs import described
from accounts.management.base import JobCommand
from accounts.models import JobRun
from config import jobs
from config.jobs import Job

FAILURES = 3  # in a row
LATE_FOR = timedelta(hours=1)
PAUSE = timedelta(days=1)  # between two emails about one failing job
OWN_NAME = "report_jobs"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reported:
    """Jobs of one email, with their rows as they were before it."""

    broken: Sequence[Job]
    mended: Sequence[Job]

    def subject(self) -> str:
        if len(self.broken) == 1:
            return f"The job {self.broken[0].name} keeps failing or is late"
        if self.broken:
            return f"{len(self.broken)} jobs keep failing or are late"
        names = ", ".join(job.name for job in self.mended)
        return f"{names} {'works' if len(self.mended) == 1 else 'work'} again"


def report(now: datetime) -> str:
    """Send the operators a report of what has changed since the last one. Return what was done, in one sentence.

    1 query, 1 for each job to report, and 1 for the superusers where OPERATOR_EMAILS is empty.
    """
    scheduled = [job for job in jobs.scheduled() if job.name != OWN_NAME]
    news = [job for job in scheduled if needs_report(job, now)]
    if not news:
        return "Nothing to report."
    addresses = recipients()
    if not addresses:
        return f"No recipient for the report about {_names(news)}: set OPERATOR_EMAILS."
    claimed = [job for job in news if _claim(job, now)]
    reported = Reported(
        [job for job in claimed if not job.run.is_reported], [job for job in claimed if job.run.is_reported]
    )
    if not claimed or _send(reported, addresses, now):
        return f"Reported: {_names(claimed) or 'another runner was faster'}."
    return f"No report about {_names(claimed)} was sent; the next turn tries again."


def needs_report(job: Job, now: datetime) -> bool:
    """Return whether the job's state differs from the last report. A failure is reported at most once a PAUSE."""
    if job.run.is_reported:
        return not is_broken(job, now)
    return is_broken(job, now) and (job.run.reported_at is None or job.run.reported_at <= now - PAUSE)


def is_broken(job: Job, now: datetime) -> bool:
    return job.run.failures >= FAILURES or job.is_late(now, by=LATE_FOR)


def recipients() -> list[str]:
    """Return OPERATOR_EMAILS, else the confirmed addresses of superusers who can sign in."""
    if settings.OPERATOR_EMAILS:
        return list(settings.OPERATOR_EMAILS)
    rows = EmailAddress.objects.filter(verified=True, primary=True, user__is_superuser=True, user__is_active=True)
    return list(rows.order_by("pk").values_list("email", flat=True))


def _claim(job: Job, now: datetime) -> bool:
    """Note the report in the row; False where another runner did."""
    row = JobRun.objects.filter(pk=job.name, is_reported=job.run.is_reported, reported_at=job.run.reported_at)
    if job.run.is_reported:
        return bool(row.update(is_reported=False))
    return bool(row.update(is_reported=True, reported_at=now))


def _send(reported: Reported, addresses: list[str], now: datetime) -> bool:
    """Send the report; False where the mail server fails, or each address has had too many emails."""
    context = {
        "broken": [(job, job.state(now)) for job in reported.broken],
        "mended": reported.mended,
        "site_name": settings.SITE_NAME,
        "base_url": mail.ours(settings.BASE_URL),
    }
    text = render_to_string("config/job_report.txt", context)
    try:
        message = EmailMessage(f"{settings.SITE_NAME}: {reported.subject()}", text, to=addresses)
        is_sent = mail.send(message, is_notice=True)
    except (smtplib.SMTPException, OSError) as error:
        logger.error("The report about jobs could not be sent: %s", described(error))
        is_sent = False
    if not is_sent:
        for job in (*reported.broken, *reported.mended):
            before = {"is_reported": job.run.is_reported, "reported_at": job.run.reported_at}
            JobRun.objects.filter(pk=job.name).update(**before)
    return is_sent


def _names(reported: Sequence[Job]) -> str:
    return ", ".join(job.name for job in reported)


class Command(JobCommand):
    help = "Write to the operators about jobs that keep failing or are late for an hour, and when they work again."

    def perform(self) -> str:
        """Report. A mail server that takes nothing is no failure of the job: /readyz counts it."""
        return report(timezone.now())
