"""Operators get an email when a job keeps failing or is late for long, and one when it works again."""

from __future__ import annotations

import io
import smtplib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.core.mail.backends import locmem
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from accounts import jobs as leases
from accounts import mail
from accounts.models import JobRun
from config import jobs
from config.management.commands import report_jobs
from tests.factories.accounts import StaffFactory, UserFactory

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class Away(locmem.EmailBackend):
    """A mail server that takes nothing."""

    errors: list[Exception] = []

    def send_messages(self, messages: Any) -> int:
        raise self.errors[0]


@pytest.fixture(autouse=True)
def clock(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[time_machine.Traveller]:
    settings.OPERATOR_EMAILS = ["night@example.org", "day@example.org"]
    monkeypatch.setattr(jobs, "SCHEDULE", {"tidy": HOUR, "count": DAY, "report_jobs": 5 * MINUTE})
    with time_machine.travel(NOON, tick=False) as clock:
        jobs.scheduled()
        yield clock


def taken(name: str) -> leases.Lease:
    lease = leases.take(name=name, length=MINUTE, by="test")
    assert lease is not None
    return lease


def fail(name: str = "tidy", times: int = 1, error: BaseException | None = None) -> None:
    for _ in range(times):
        leases.fail(lease=taken(name), error=error or ValueError("The broom broke"))


def succeed(name: str = "tidy") -> None:
    leases.succeed(lease=taken(name), message="Tidied.")


def report() -> str:
    return report_jobs.report(timezone.now())


def test_three_failures_in_a_row_are_reported_once(mailoutbox: list[EmailMessage]) -> None:
    fail(times=2)
    assert report() == "Nothing to report."
    fail()
    assert report() == "Reported: tidy."
    assert report() == "Nothing to report."
    fail()
    assert report() == "Nothing to report."
    (mail,) = mailoutbox
    assert mail.to == ["night@example.org", "day@example.org"]
    assert mail.subject == "Hearth: The job tidy keeps failing or is late"
    assert "- tidy: failed: ValueError: The broom broke\n" in mail.body
    assert "3 failures in a row, the last at 1 March 2026, 12:00 UTC. It has never succeeded." in mail.body
    assert "count" not in mail.body


def test_a_success_in_between_begins_the_count_again(mailoutbox: list[EmailMessage]) -> None:
    for _ in range(2):
        fail(times=2)
        succeed()
    fail(times=2)
    assert report() == "Nothing to report."
    assert JobRun.objects.get(pk="tidy").failures == 2


def test_a_job_that_was_stopped_has_not_failed() -> None:
    fail(times=5, error=KeyboardInterrupt())
    assert report() == "Nothing to report."


def test_it_says_once_that_a_job_works_again(mailoutbox: list[EmailMessage], clock: time_machine.Traveller) -> None:
    fail(times=3)
    report()
    clock.shift(10 * MINUTE)
    succeed()
    assert [report(), report()] == ["Reported: tidy.", "Nothing to report."]
    assert [mail.subject for mail in mailoutbox][1:] == ["Hearth: tidy works again"]
    assert "- tidy, since 1 March 2026, 12:10 UTC\n" in mailoutbox[1].body


def test_a_job_that_fails_again_the_same_day_is_reported_a_day_after_the_first_time(
    mailoutbox: list[EmailMessage], clock: time_machine.Traveller
) -> None:
    fail(times=3)
    report()
    succeed()
    report()
    fail(times=3)
    clock.shift(DAY - SECOND)
    succeed("count")
    assert report() == "Nothing to report."
    clock.shift(1)
    assert report() == "Reported: tidy."
    assert len(mailoutbox) == 3


def test_a_job_that_is_late_for_an_hour_is_reported(
    mailoutbox: list[EmailMessage], clock: time_machine.Traveller
) -> None:
    succeed()
    clock.shift(4 * HOUR + MINUTE)  # three intervals and a minute, and the hour
    assert report() == "Nothing to report."
    clock.shift(1)
    assert report() == "Reported: tidy."
    assert "- tidy: late\n  Last success: 1 March 2026, 12:00 UTC." in mailoutbox[0].body
    succeed()
    assert report() == "Reported: tidy."


def test_one_email_holds_all_that_is_new(mailoutbox: list[EmailMessage]) -> None:
    fail("tidy", 3)
    fail("count", 3)
    assert report() == "Reported: tidy, count."
    (mail,) = mailoutbox
    assert mail.subject == "Hearth: 2 jobs keep failing or are late"


def test_it_never_reports_itself(clock: time_machine.Traveller) -> None:
    clock.shift(2 * HOUR)
    assert report() == "Nothing to report."


def test_two_runners_send_one_email(mailoutbox: list[EmailMessage], monkeypatch: pytest.MonkeyPatch) -> None:
    fail(times=3)
    seen = jobs.scheduled()
    assert report() == "Reported: tidy."
    monkeypatch.setattr(jobs, "scheduled", lambda: seen)  # the second one looked at the same time
    assert report() == "Reported: another runner was faster."
    assert len(mailoutbox) == 1


@pytest.mark.parametrize("error", [smtplib.SMTPServerDisconnected("Gone"), ConnectionRefusedError("No")])
def test_where_themail_server_is_away_the_job_goes_on_and_tries_again(
    settings: Settings, mailoutbox: list[EmailMessage], caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    works = settings.EMAIL_BACKEND
    fail(times=3)
    settings.EMAIL_BACKEND, Away.errors = f"{__name__}.Away", [error]
    call_command("report_jobs", stdout=io.StringIO())
    run = JobRun.objects.get(pk="report_jobs")
    assert (run.has_succeeded(timezone.now()), run.failures) == (True, 0)
    assert run.message == "No report about tidy was sent; the next turn tries again."
    assert [record.getMessage() for record in caplog.records] == [
        f"The report about jobs could not be sent: {type(error).__name__}: {error}"
    ]
    settings.EMAIL_BACKEND = works
    assert [report(), report()] == ["Reported: tidy.", "Nothing to report."]
    succeed()
    settings.EMAIL_BACKEND = f"{__name__}.Away"
    report()
    settings.EMAIL_BACKEND = works
    assert report() == "Reported: tidy."
    assert [mail.subject for mail in mailoutbox][1:] == ["Hearth: tidy works again"]


def test_a_report_that_was_held_back_is_sent_at_a_later_turn(
    monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage]
) -> None:
    fail(times=3)
    with monkeypatch.context() as patch:
        patch.setattr(mail, "send", lambda message, *, is_notice: False)  # each address has had too many
        assert report() == "No report about tidy was sent; the next turn tries again."
    assert report() == "Reported: tidy."
    assert len(mailoutbox) == 1


def test_without_the_setting_superusers_hear_of_it(settings: Settings, mailoutbox: list[EmailMessage]) -> None:
    settings.OPERATOR_EMAILS = []
    fail(times=3)
    assert report() == "No recipient for the report about tidy: set OPERATOR_EMAILS."
    boss = StaffFactory()
    StaffFactory(email_verified=False)
    StaffFactory(is_active=False)
    UserFactory(is_staff=True)
    assert report() == "Reported: tidy."
    assert mailoutbox[0].to == [boss.email]


def test_the_job_sends_it(mailoutbox: list[EmailMessage]) -> None:
    fail(times=3)
    call_command("report_jobs", stdout=io.StringIO())
    assert len(mailoutbox) == 1
    assert JobRun.objects.get(pk="report_jobs").message == "Reported: tidy."
