"""The periodic jobs: which command runs how often, what is due, and what is late."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core import checks
from django.core.checks import CheckMessage, Error
from django.core.management import call_command, get_commands, load_command_class

from accounts import jobs
from accounts.management.base import JobCommand
from accounts.models import JobRun
from accounts.models.jobs import CLOCKS_MAY_DIFFER

# In the order in which jobs that are due together run.
SCHEDULE: dict[str, timedelta] = {
    "make_previews": timedelta(minutes=1),  # what the workers of `run_jobs` left
    "deliver_webhooks": timedelta(minutes=1),  # where no worker of `run_jobs` does
    "fold_visits": timedelta(seconds=10),
    "unlock_badges": timedelta(minutes=5),  # views unlock them
    "rank_leaderboards": timedelta(minutes=5),  # badges are counted there
    "mark_inactive": timedelta(days=1),
    "delete_expired": timedelta(minutes=10),  # authorization requests of visitors live as long
    "delete_accounts": timedelta(hours=1),
    "remind_of_keys": timedelta(days=1),
    "sweep_uploads": timedelta(minutes=5),
    "sweep_presence": timedelta(minutes=15),
    "sweep_assets": timedelta(days=1),
    "report_jobs": timedelta(minutes=5),  # after a pause of the service the rest have run before it
    "reconcile_files": timedelta(days=1),  # last: it takes longest
}
RETRY = timedelta(minutes=5)  # after a failure, where the interval is longer
TAG = "jobs"  # of the system check


@dataclass(frozen=True)
class Job:
    """A job of the schedule and what the database says of its runs."""

    name: str
    interval: timedelta
    run: JobRun

    def due_at(self, now: datetime) -> datetime:
        """Return last start + interval, whichever host ran it; not while it runs.

        A time that is still to come was written by a clock that was ahead: the job is due now.
        """
        started_at = self.run.started_at
        if started_at is None:
            return min(self.run.created_at, now)
        pause = self.interval if self.run.has_succeeded(now) else min(self.interval, RETRY)
        due_at = now if started_at > now + CLOCKS_MAY_DIFFER else started_at + pause
        return max(due_at, self.run.held_until(now) or due_at)

    def is_late(self, now: datetime, *, by: timedelta = timedelta(0)) -> bool:
        """Return whether its last success, or the first look for it, is older than three intervals and a minute.

        Jobs run one after the other: a shorter interval than a minute counts as one. `by`: how much older.
        """
        interval = max(self.interval, timedelta(minutes=1))
        return now - (self.run.last_success(now) or self.run.created_at) > 3 * interval + timedelta(minutes=1) + by

    def state(self, now: datetime) -> str:
        """Describe the job in one line."""
        words = ["late"] if self.is_late(now) else []
        if self.run.is_running(now):
            words.append("running")
        elif self.run.last_error:
            words.append(f"failed: {self.run.last_error}")
        return ", ".join(words) or "ok"

    def perform(self) -> str:
        """Run the job in this process and return its message. Exceptions of the job are raised."""
        message: str = call_command(self.name, seen=self.run, stdout=io.StringIO())
        return message


def scheduled() -> list[Job]:
    """Return every job in order. Creates missing rows. 1 query."""
    runs = JobRun.objects.in_bulk(list(SCHEDULE))
    if missing := SCHEDULE.keys() - runs.keys():
        jobs.plant(sorted(missing))
        runs |= JobRun.objects.in_bulk(missing)
    return [Job(name, interval, runs[name]) for name, interval in SCHEDULE.items()]


def in_words(interval: timedelta) -> str:
    """Return for example `5 min`: the largest unit that divides the interval."""
    seconds = int(interval.total_seconds())
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds % unit == 0:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


def late(now: datetime) -> list[Job]:
    """Return the late jobs. 1 query."""
    return [job for job in scheduled() if job.is_late(now)]


@checks.register(TAG)
def check_schedule(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Check that each job is a command that takes a lease. `app_configs`: the apps to look at, or None."""
    commands = get_commands()
    return [
        Error(f"{name} is scheduled, but is no job: {problem}.", id="config.E005")
        for name in SCHEDULE
        if (problem := _problem(name, commands.get(name)))
    ]


def _problem(name: str, app: Any) -> str:
    """Return the job's problem. `app`: what Django keeps for a command, a name or an AppConfig."""
    if app is None:
        return "there is no such command"
    is_job = isinstance(load_command_class(app, name), JobCommand)
    return "" if is_job else "its command is no JobCommand"
