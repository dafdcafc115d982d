"""What commands share: the base of periodic jobs, which `run_jobs` or cron starts, and arguments and errors."""

from __future__ import annotations

import abc
from datetime import timedelta
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError

from accounts import jobs
from accounts.jobs import Lease
from accounts.models import JobRun, User
from accounts.models.jobs import LEASE
from infrastructure.requests import request_context


class Unfinished(Exception):
    """A run of a job has ended early, and the next run continues. The message says what it did."""


class JobCommand(BaseCommand, abc.ABC):
    """A command that does its job unless another runner is doing it, and records how it ended.

    Subclasses implement `perform()`. `lease_length`: how long a runner that crashed keeps other runners waiting; a job
    that may take longer than that calls `renew()` on its way. At most LEASE. The job's name is that of its module.
    """

    lease_length: ClassVar[timedelta] = LEASE
    requires_system_checks = []  # cron starts it every minute; the deploy checks run at the deploy
    stealth_options = ("seen",)

    _lease: Lease

    @abc.abstractmethod
    def perform(self) -> str:
        """Do the job. Return what was done, in one sentence without secrets or personal data. Idempotent.

        Raises Unfinished where the job wants another turn before its interval is over.
        """

    def renew(self) -> None:
        """Hold the lease for another `lease_length`. LeaseLost where another runner has it: let it end the job."""
        jobs.renew(lease=self._lease, length=self.lease_length)

    def handle(self, *args: Any, seen: JobRun | None = None, **options: Any) -> str:
        """`seen`: the row that `run_jobs` found due, as `jobs.take` explains."""
        name = self.__module__.rpartition(".")[2]
        with request_context.job(name):
            return self._run(name, seen)

    def _run(self, name: str, seen: JobRun | None) -> str:
        lease = jobs.take(name=name, length=self.lease_length, by=jobs.new_holder(), seen=seen)
        if lease is None:
            return f"{name} is already running elsewhere."
        self._lease = lease
        try:
            done = self.perform()
        except Unfinished as turn:
            jobs.put_off(lease=lease, message=str(turn))
            return str(turn)
        except BaseException as error:  # Ctrl-C too: a job that is stopped gives its lease back
            jobs.fail(lease=lease, error=error)
            raise
        jobs.succeed(lease=lease, message=done)
        return done


def user_named(username: str) -> User:
    """Return the user with this name, in any case. Raises CommandError where there is none."""
    user = User.objects.by_username(username).first()
    if user is None:
        raise CommandError(f"There is no user named {username}.")
    return user


def command_error(error: ValidationError) -> CommandError:
    """Return the sentences of `error`, each with the argument that it is about."""
    if hasattr(error, "error_dict"):
        lines = [f"{name}: {message}" for name, messages in error.message_dict.items() for message in messages]
    else:
        lines = error.messages
    return CommandError("\n".join(lines))
