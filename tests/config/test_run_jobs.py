"""`run_jobs`: what is due runs in order, whatever breaks; what there is to see; what the schedule may hold."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import jobs as leases
from accounts.models import JobRun
from config import jobs

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def jobs_app(settings: Settings) -> None:
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.config.jobs_app"]


@pytest.fixture
def schedule(jobs_app: None, monkeypatch: pytest.MonkeyPatch) -> dict[str, timedelta]:
    """Two jobs that succeed, the quicker one last."""
    intervals = {"tidy": HOUR, "count": MINUTE}
    monkeypatch.setattr(jobs, "SCHEDULE", intervals)
    return intervals


def once() -> str:
    output = io.StringIO()
    call_command("run_jobs", "--once", stdout=output)
    return output.getvalue()


def listed() -> str:
    output = io.StringIO()
    call_command("run_jobs", "--list", stdout=output)
    return output.getvalue()


TIDY, COUNT = "tidy: Tidied.\n", "count: Counted 3 things.\n"


@pytest.mark.django_db
@pytest.mark.usefixtures("schedule")
class TestOnce:
    def test_what_never_ran_is_due_in_the_order_of_the_schedule(self, clock: time_machine.Traveller) -> None:
        assert once() == TIDY + COUNT
        assert once() == ""

    def test_a_job_is_due_an_interval_after_its_last_start(self, clock: time_machine.Traveller) -> None:
        once()
        clock.shift(MINUTE - SECOND)
        assert once() == ""
        clock.shift(SECOND)
        assert once() == COUNT
        clock.shift(HOUR - MINUTE)
        assert once() == TIDY + COUNT

    def test_a_job_that_somebody_else_ran_is_not_due(self, clock: time_machine.Traveller) -> None:
        call_command("tidy", stdout=io.StringIO())
        assert once() == COUNT

    def test_a_job_that_runs_elsewhere_is_left_to_that_runner(self, clock: time_machine.Traveller) -> None:
        lease = leases.take(name="count", length=10 * MINUTE, by="elsewhere")
        assert lease is not None
        assert once() == TIDY
        clock.shift(2 * MINUTE)
        assert once() == ""
        leases.succeed(lease=lease, message="Counted 0 things.")
        assert once() == COUNT

    def test_of_two_runners_that_find_a_job_due_one_does_it(self) -> None:
        (_, first), (_, second) = jobs.scheduled(), jobs.scheduled()
        assert first.perform() == "Counted 3 things."
        assert second.perform() == "count is already running elsewhere."

    def test_a_failing_job_is_logged_and_does_not_stop_the_others(
        self, clock: time_machine.Traveller, schedule: dict[str, timedelta], caplog: pytest.LogCaptureFixture
    ) -> None:
        schedule.clear()
        schedule.update({"stumble": HOUR, "count": HOUR})
        output = io.StringIO()
        with pytest.raises(CommandError, match=r"^Failed: stumble\.$"):
            call_command("run_jobs", "--once", stdout=output)
        assert output.getvalue() == COUNT
        (record,) = caplog.records
        assert (record.levelname, record.getMessage()) == ("ERROR", "The job stumble failed")
        assert record.exc_info is not None
        assert record.exc_info[0] is ZeroDivisionError
        run = JobRun.objects.get(pk="stumble")
        assert (run.failed_at, run.last_error) == (NOON, "ZeroDivisionError: Nothing is left to divide by")

    def test_a_failed_job_is_tried_again_after_five_minutes(
        self, clock: time_machine.Traveller, schedule: dict[str, timedelta]
    ) -> None:
        leases.fail(lease=_taken("tidy"), error=ValueError("No"))
        leases.fail(lease=_taken("count"), error=ValueError("No"))
        assert once() == ""
        clock.shift(MINUTE)
        assert once() == COUNT
        clock.shift(4 * MINUTE)
        assert once() == TIDY + COUNT

    @pytest.mark.parametrize("ahead", [30 * DAY, HOUR])
    def test_jobs_that_a_clock_far_ahead_ran_are_due_once_it_is_right(
        self, clock: time_machine.Traveller, schedule: dict[str, timedelta], ahead: timedelta
    ) -> None:
        schedule["hang"] = HOUR
        clock.shift(ahead)
        leases.plant(schedule)
        call_command("tidy", stdout=io.StringIO())
        leases.take(name="hang", length=10 * MINUTE, by="a host that lost its power")
        clock.move_to(NOON)
        now = timezone.now()
        assert [job.due_at(now) for job in jobs.scheduled()] == [now] * 3
        assert [job.run.is_running(now) for job in jobs.scheduled()] == [False] * 3
        del schedule["hang"]
        assert once() == TIDY + COUNT
        assert once() == ""

    def test_a_job_that_a_clock_a_little_ahead_runs_is_left_to_its_runner(self, clock: time_machine.Traveller) -> None:
        clock.shift(2 * MINUTE)
        leases.take(name="tidy", length=10 * MINUTE, by="elsewhere")
        clock.shift(-2 * MINUTE)
        assert once() == COUNT
        tidy, _ = jobs.scheduled()
        assert (tidy.due_at(NOON), tidy.run.is_running(NOON)) == (NOON + 12 * MINUTE, True)

    def test_a_job_that_fails_after_a_clock_was_ahead_is_tried_again_after_five_minutes(
        self, clock: time_machine.Traveller
    ) -> None:
        clock.shift(30 * DAY)
        once()
        clock.move_to(NOON)
        leases.fail(lease=_taken("tidy"), error=ValueError("No"))
        assert jobs.scheduled()[0].due_at(NOON) == NOON + 5 * MINUTE

    def test_nothing_due_costs_one_query(self, django_assert_num_queries: DjangoAssertNumQueries) -> None:
        once()
        with django_assert_num_queries(1):  # the rows of all jobs
            assert once() == ""


def _taken(name: str) -> leases.Lease:
    lease = leases.take(name=name, length=MINUTE, by="a test")
    assert lease is not None
    return lease


@pytest.mark.django_db
@pytest.mark.usefixtures("schedule")
def test_the_list_shows_each_job(clock: time_machine.Traveller, schedule: dict[str, timedelta]) -> None:
    schedule["stumble"] = schedule["hang"] = timedelta(days=1)
    call_command("tidy", stdout=io.StringIO())
    leases.fail(lease=_taken("stumble"), error=ValueError("No"))
    clock.shift(30 * SECOND)
    _taken("hang")
    leases.plant(schedule)
    assert listed() == (
        "tidy                  every 1 h         last success 2026-03-01 12:00:00 UTC  ok\n"
        "count                 every 1 min       last success never                    ok\n"
        "stumble               every 1 d         last success never                    failed: ValueError: No\n"
        "hang                  every 1 d         last success never                    running\n"
    )
    clock.shift(4 * MINUTE + SECOND)
    assert listed().splitlines()[1].endswith("never                    late")


@pytest.mark.django_db
@pytest.mark.usefixtures("schedule")
def test_a_success_that_is_still_to_come_counts_as_none(clock: time_machine.Traveller) -> None:
    leases.plant(["tidy", "count"])
    clock.shift(30 * DAY)
    once()
    clock.move_to(NOON + 4 * MINUTE)
    assert not jobs.late(timezone.now())
    clock.shift(SECOND)
    assert [job.name for job in jobs.late(timezone.now())] == ["count"]
    once()
    assert not jobs.late(timezone.now())


@pytest.mark.django_db
@pytest.mark.usefixtures("jobs_app")
def test_a_job_of_seconds_is_late_no_sooner_than_one_of_a_minute(
    clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others have their turns in between."""
    monkeypatch.setattr(jobs, "SCHEDULE", {"tidy": 10 * SECOND})
    once()
    clock.shift(10 * SECOND)
    assert once() == TIDY
    clock.shift(4 * MINUTE)
    assert listed() == "tidy                  every 10 s        last success 2026-03-01 12:00:10 UTC  ok\n"
    clock.shift(SECOND)
    assert listed().endswith("  late\n")


@pytest.mark.usefixtures("jobs_app")
class TestCheck:
    def test_the_schedule_of_the_service_has_nothing_to_say(self) -> None:
        assert run_checks(tags=[jobs.TAG]) == []

    @pytest.mark.parametrize(
        ("name", "problem"),
        [("tidy_up", "there is no such command"), ("migrate", "its command is no JobCommand")],
    )
    def test_what_is_no_job_is_an_error(self, monkeypatch: pytest.MonkeyPatch, name: str, problem: str) -> None:
        monkeypatch.setattr(jobs, "SCHEDULE", {"tidy": HOUR, name: HOUR})
        (error,) = run_checks(tags=[jobs.TAG])
        assert (error.id, error.msg) == ("config.E005", f"{name} is scheduled, but is no job: {problem}.")
        assert error.is_serious()
