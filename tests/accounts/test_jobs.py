"""The lease of a job: one runner at a time, and every end on record."""

import io
from datetime import timedelta

import pytest
import time_machine
from django.core.management import call_command

from accounts import jobs
from accounts.jobs import Lease, LeaseLost
from accounts.management.base import JobCommand
from accounts.models import JobRun
from tests.accounts.clock import NOON
from tests.support.threads import together

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
NAME = __name__.rpartition(".")[2]  # a command is named like its module


def take(by: str, *, seen: JobRun | None = None) -> Lease | None:
    return jobs.take(name="sweep", length=MINUTE, by=by, seen=seen)


def taken(by: str) -> Lease:
    lease = take(by)
    assert lease is not None
    return lease


def row(name: str = "sweep") -> dict[str, object]:
    """Return what is recorded and not empty, without the name, `created_at` and what `job_reports` notes."""
    (values,) = JobRun.objects.filter(pk=name).values()
    left_out = {"name", "created_at", "is_reported", "reported_at"}
    return {key: value for key, value in values.items() if value not in {None, ""} and key not in left_out}


@pytest.mark.django_db
class TestLease:
    def test_the_first_runner_gets_it_and_the_second_does_not(self, clock: time_machine.Traveller) -> None:
        assert take("first") == Lease("sweep", "first", NOON)
        assert take("second") is None
        assert row() == {"lease_ends_at": NOON + MINUTE, "leased_by": "first", "started_at": NOON, "failures": 0}

    def test_another_job_is_another_lease(self) -> None:
        taken("first")
        assert jobs.take(name="other", length=MINUTE, by="second") is not None

    def test_what_a_crashed_runner_held_is_free_when_its_time_is_over(self, clock: time_machine.Traveller) -> None:
        taken("crashed")
        clock.shift(MINUTE - SECOND)
        assert take("second") is None
        clock.shift(SECOND)
        assert take("second") == Lease("sweep", "second", NOON + MINUTE)

    @pytest.mark.parametrize(("hours_ahead", "is_free"), [(0.03, False), (0.04, True), (24, True)])
    def test_a_lease_from_a_clock_that_was_ahead_delays_no_runner_for_long(
        self, clock: time_machine.Traveller, hours_ahead: float, is_free: bool
    ) -> None:
        clock.shift(timedelta(hours=hours_ahead))
        taken("first")
        clock.shift(timedelta(hours=-hours_ahead))
        assert (take("second") is not None) is is_free

    def test_a_renewed_lease_lasts_longer(self, clock: time_machine.Traveller) -> None:
        lease = taken("first")
        clock.shift(MINUTE - SECOND)
        jobs.renew(lease=lease, length=MINUTE)
        clock.shift(MINUTE - SECOND)
        assert take("second") is None
        clock.shift(SECOND)
        assert take("second") is not None

    def test_a_runner_that_saw_an_older_run_does_not_run_it_again(self, clock: time_machine.Traveller) -> None:
        jobs.plant(["sweep"])
        seen = JobRun.objects.get()
        jobs.succeed(lease=taken("first"), message="Swept.")
        assert take("second", seen=seen) is None
        assert take("second", seen=JobRun.objects.get()) is not None

    def test_a_success_frees_it_and_is_recorded(self, clock: time_machine.Traveller) -> None:
        jobs.fail(lease=taken("first"), error=ValueError("No"))
        lease = taken("second")
        clock.shift(1.25)
        jobs.succeed(lease=lease, message="x" * 501)
        end = NOON + timedelta(seconds=1.25)
        assert row() == {
            "leased_by": "second",
            "started_at": NOON,
            "succeeded_at": end,
            "failed_at": NOON,
            "duration_ms": 1250,
            "message": "x" * 500,
            "failures": 0,
        }
        assert take("third") is not None

    @pytest.mark.parametrize("act", ["succeed", "renew"])
    def test_losing_it_is_an_error_and_the_row_is_left_to_the_new_holder(
        self, clock: time_machine.Traveller, act: str
    ) -> None:
        slow = taken("slow")
        clock.shift(MINUTE)
        taken("second")
        before = row()
        with pytest.raises(LeaseLost, match=r"another runner has taken it over|Another runner has taken over sweep"):
            jobs.succeed(lease=slow, message="Swept.") if act == "succeed" else jobs.renew(lease=slow, length=MINUTE)
        jobs.fail(lease=slow, error=ValueError("No"))
        assert row() == before

    def test_a_lease_that_ended_is_still_held_until_another_runner_takes_it(
        self, clock: time_machine.Traveller
    ) -> None:
        lease = taken("slow")
        clock.shift(2 * MINUTE)
        jobs.succeed(lease=lease, message="Swept.")
        assert row()["message"] == "Swept."


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("has_crashed", [False, True])
def test_of_4_runners_at_once_exactly_one_gets_the_lease(has_crashed: bool) -> None:
    """The row is not there before, or it is that of a crashed runner."""
    with time_machine.travel(NOON, tick=False) as clock:
        if has_crashed:
            taken("crashed")
            clock.shift(MINUTE)
        leases = together(4, lambda number: take(f"runner {number}"))
    (winner,) = [lease for lease in leases if lease is not None]
    assert JobRun.objects.get().leased_by == winner.holder


class Sweep(JobCommand):
    """Counts how often it was done."""

    def __init__(self) -> None:
        self.times = 0
        super().__init__()

    def perform(self) -> str:
        self.times += 1
        return "Swept 3 corners."


class Renewing(JobCommand):
    """Takes three quarters of its lease, renews it, and another three quarters."""

    lease_length = MINUTE

    def __init__(self, clock: time_machine.Traveller) -> None:
        self.clock = clock
        super().__init__()

    def perform(self) -> str:
        self.clock.shift(45)
        self.renew()
        self.clock.shift(45)
        return "" if jobs.take(name=NAME, length=MINUTE, by="other") else "Nobody else could start."


class Failing(JobCommand):
    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__()

    def perform(self) -> str:
        raise self.error


def run(command: JobCommand, *, seen: JobRun | None = None) -> str:
    output = io.StringIO()
    call_command(command, stdout=output, seen=seen)
    return output.getvalue()


@pytest.mark.django_db
class TestCommand:
    def test_a_job_says_and_records_what_it_did(self, clock: time_machine.Traveller) -> None:
        assert run(Sweep()) == "Swept 3 corners.\n"
        holder = row(NAME).pop("leased_by")
        assert row(NAME) == {
            "leased_by": holder,
            "started_at": NOON,
            "succeeded_at": NOON,
            "duration_ms": 0,
            "message": "Swept 3 corners.",
            "failures": 0,
        }

    def test_a_job_that_runs_elsewhere_is_not_done(self) -> None:
        jobs.take(name=NAME, length=MINUTE, by="elsewhere")
        before, sweep = row(NAME), Sweep()
        assert run(sweep) == "test_jobs is already running elsewhere.\n"
        assert (sweep.times, row(NAME)) == (0, before)

    def test_a_long_job_can_renew_its_lease(self, clock: time_machine.Traveller) -> None:
        assert run(Renewing(clock)) == "Nobody else could start.\n"

    @pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
    def test_a_failure_is_recorded_frees_the_lease_and_is_raised(
        self, clock: time_machine.Traveller, kind: type[BaseException]
    ) -> None:
        run(Sweep())
        clock.shift(MINUTE)
        with pytest.raises(kind, match=r"^The broom broke$"):
            run(Failing(kind("The broom broke")))
        found = row(NAME)
        assert isinstance(found.pop("leased_by"), str)
        assert found == {
            "started_at": NOON + MINUTE,
            "succeeded_at": NOON,
            "failed_at": NOON + MINUTE,
            "duration_ms": 0,
            "message": "Swept 3 corners.",
            "last_error": f"{kind.__name__}: The broom broke",
            "failures": int(kind is ValueError),  # a job that was stopped did not fail
        }
        assert run(Sweep()) == "Swept 3 corners.\n"
        assert JobRun.objects.get().last_error == ""


@pytest.mark.parametrize(
    ("error", "description"),
    [
        (ValueError(), "ValueError"),
        (ValueError("x" * 600), "ValueError: " + "x" * 488),
        (ValueError("Taken\nDETAIL:  Key (email)=(ada@example.org) already exists."), "ValueError: Taken"),
        (OSError("redis://me:pass@cache:6379/0 is gone"), "OSError: redis://me:[redacted]@cache:6379/0 is gone"),
        (ValueError("No key ik_abcdefgh_0123456789abcdefghij here"), "ValueError: No key [redacted] here"),
        (
            ValueError("GET https://a.example/x?token=0123456789abcdefghij: 500"),
            "ValueError: GET https://a.example/x?[redacted]: 500",
        ),
    ],
)
def test_an_error_is_described_briefly_and_without_secrets(error: Exception, description: str) -> None:
    assert jobs.described(error) == description
