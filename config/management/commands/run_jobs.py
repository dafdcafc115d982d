"""manage.py run_jobs: runs every periodic job when it is due."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from accounts.jobs import let_go_of_connections
from accounts.webhooks import delivering
from config import jobs
from config.jobs import Job
from config.observability import tracing
from imagehost.storing import previews
from infrastructure import signal_waiter
from infrastructure.metrics import metrics_server
from infrastructure.signal_waiter import SignalWaiter

ENDS = (signal.SIGTERM, signal.SIGINT)
PATIENCE = 3.0  # seconds that a job may go on after the signal
PATIENCE_FOR_THREADS = 1.0  # seconds after that, for previews and deliveries
LONGEST_SLEEP = 60.0  # a clock may be set, a row may be changed
SHORTEST_SLEEP = 0.2
AFTER_DATABASE_ERROR = 10.0
LOOK_AT_PARENT = 2.0

logger = logging.getLogger(__name__)


class Abandoned(KeyboardInterrupt):
    """The running job is aborted at shutdown.

    A KeyboardInterrupt: no job handles it as an error of its own, and psycopg cancels its statement.
    """


class Command(BaseCommand):
    help = (
        "Run the periodic jobs when they are due, one after the other, until SIGTERM or Ctrl-C, and meanwhile make "
        "previews of uploads and deliver webhooks. Several of these may run at once, on several hosts: they share the "
        "work. Each job is a command too, for those who would rather use cron."
    )

    requires_system_checks = [jobs.TAG]  # the rest are for the deploy: here they would double the time of a start

    _is_asked_to_end = False
    _is_verbose = False

    def add_arguments(self, parser: CommandParser) -> None:
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument("--once", action="store_true", help="run what is due now; exit code 1 when a job failed")
        modes.add_argument("--list", action="store_true", help="show every job and how its last run ended")
        parser.add_argument(
            "--previews", type=int, default=2, metavar="N", help="how many threads make previews (default: 2)"
        )
        parser.add_argument(
            "--deliveries",
            type=int,
            default=delivering.PLACES,
            metavar="N",
            help=f"how many webhooks may be under way at once (default: {delivering.PLACES}); 0: none",
        )
        parser.add_argument("--parent", type=int, metavar="PID", help="end when this parent process does")

    def handle(self, *args: Any, once: bool, list: bool, parent: int | None, **options: Any) -> None:
        if list:
            self._list()
            return
        self._is_verbose = once or options["verbosity"] > 1  # every minute is too often for a log
        with signal_waiter.opened(*ENDS, signal.SIGALRM, note=self._note) as waiter:
            try:
                if once:
                    if failed := self._run_due():
                        raise CommandError(f"Failed: {', '.join(failed)}.")
                else:
                    with metrics_server.running(), self._threads(options["previews"], options["deliveries"]):
                        self._run_until_asked(waiter, parent)
            except Abandoned:
                message = "Stopped in the middle of a job, which is left for its next turn."
                if once:
                    raise CommandError(message) from None
                logger.warning(message)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def _note(self, number: int) -> None:
        """Leave the running job PATIENCE to finish at the first signal; abort it at the next one."""
        if self._is_asked_to_end:
            raise Abandoned
        self._is_asked_to_end = True
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)

    @contextlib.contextmanager
    def _threads(self, previewers: int, deliveries: int) -> Iterator[None]:
        """Run the threads that make previews and deliver; at the end they give back what they have claimed."""
        workers: list[previews.Worker | delivering.Worker] = [
            previews.Worker(is_asked_to_end=lambda: self._is_asked_to_end) for _ in range(previewers)
        ]
        if deliveries > 0:
            workers.append(delivering.Worker(places=deliveries, is_asked_to_end=lambda: self._is_asked_to_end))
        for worker in workers:
            worker.start()
        try:
            yield
        finally:
            self._is_asked_to_end = True
            give_up_at = time.monotonic() + PATIENCE_FOR_THREADS
            for worker in workers:
                worker.end(max(give_up_at - time.monotonic(), 0))

    def _run_until_asked(self, waiter: SignalWaiter, parent: int | None) -> None:
        while not self._is_asked_to_end:
            try:
                self._run_due()
                now = timezone.now()
                due_at = min((job.due_at(now) for job in jobs.scheduled()), default=None)
                seconds = (due_at - now).total_seconds() if due_at else LONGEST_SLEEP
                seconds = min(max(seconds, SHORTEST_SLEEP), LONGEST_SLEEP)
            except DatabaseError:  # it is restarted, or still to be migrated: the jobs go on after that
                logger.exception("The periodic jobs cannot be read")
                seconds = AFTER_DATABASE_ERROR
            let_go_of_connections()
            wakes_at = time.monotonic() + seconds  # or at a signal; an ended parent counts as one
            while not self._is_asked_to_end and (left := wakes_at - time.monotonic()) > 0:
                waiter.wait(left if parent is None else min(left, LOOK_AT_PARENT))
                if parent is not None and os.getppid() != parent:
                    self._is_asked_to_end = True

    def _run_due(self) -> list[str]:
        """Run the due jobs in order; return the names of failed ones."""
        failed = []
        for job in jobs.scheduled():
            if self._is_asked_to_end:
                break
            now = timezone.now()
            if job.due_at(now) <= now and not self._run(job):
                failed.append(job.name)
        return failed

    def _run(self, job: Job) -> bool:
        """Run the job. Return whether it went well."""
        try:
            with tracing.job(job.name):
                try:
                    message = job.perform()
                except Exception:
                    logger.exception("The job %s failed", job.name)  # here, where the line has the id of the run
                    raise
        except Exception:  # one broken job must not keep the rest from running
            return False
        finally:
            let_go_of_connections()
        if self._is_verbose:
            self.stdout.write(f"{job.name}: {message}")
        return True

    def _list(self) -> None:
        now = timezone.now()
        for job in jobs.scheduled():
            run = job.run
            succeeded = f"{run.succeeded_at:%Y-%m-%d %H:%M:%S} UTC" if run.succeeded_at else "never"
            self.stdout.write(
                f"{job.name:20}  every {jobs.in_words(job.interval):10}  last success {succeeded:23}  {job.state(now)}"
            )
