"""manage.py report_failure UNIT: write to the operators that a systemd unit failed (`OnFailure=` in deploy/systemd)."""

import smtplib
import socket
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import mail
from config.management.commands import report_jobs


class Command(BaseCommand):
    help = "Write to the operators that a systemd unit failed on this host."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("unit")

    def handle(self, *args: Any, **options: Any) -> None:
        unit, host, addresses = options["unit"], socket.gethostname(), report_jobs.recipients()
        if not addresses:
            raise CommandError("No recipient: set OPERATOR_EMAILS.")
        text = f"The unit {unit} failed on {host}. Why: journalctl -u {unit}\n"
        report = EmailMessage(f"{settings.SITE_NAME}: {unit} failed on {host}", text, to=addresses)
        try:
            is_sent = mail.send(report, is_notice=True)
        except (smtplib.SMTPException, OSError) as error:
            raise CommandError(f"The mail server took no report: {error}") from None
        if not is_sent:
            raise CommandError("No report was sent: each recipient has had too many emails.")
