"""Starts the whole production shape on loopback, and says where it is.

`python -m tests.production`: until Ctrl-C. `python -m tests.production --test [PATH…] [ARGUMENTS OF PYTEST…]`: runs the
journeys and the tests of this folder on it.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

import pytest

from tests.journeys import people
from tests.journeys.operators import Operator
from tests.production import shape as shapes
from tests.production.plugin import Plugin
from tests.support import programs, servers

TESTS = Path(__file__).parents[1]
# The outages come last: one that goes wrong leaves something broken.
CHOSEN = (
    *(f"journeys/test_{name}.py" for name in ("sign_in", "authlib", "requests_oauthlib")),
    *(f"production/test_{name}.py" for name in ("two_hosts", "rolling_restart", "outages")),
)
PROBLEMS = (programs.MissingProgramError, servers.ServerError, AssertionError)


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, _leave)  # so that everything is stopped
    try:
        programs.found("postgres", "redis-server", "pgbouncer", "nginx")
        return _test(arguments[1:]) if arguments[:1] == ["--test"] else _run()
    except PROBLEMS as problem:
        print(problem, file=sys.stderr)
        return 1


def _test(arguments: list[str]) -> int:
    """In this process, since all tests share the one shape. Without limits, since they share one address."""
    began_at = time.monotonic()
    are_paths = any((TESTS.parent / argument.partition("::")[0]).is_file() for argument in arguments)
    chosen = [] if are_paths else [str(TESTS / name) for name in CHOSEN]
    with pytest.MonkeyPatch.context() as patch, shapes.running(**shapes.WITHOUT_LIMITS) as shape:
        print(f"The production shape is ready after {time.monotonic() - began_at:.0f} s.", flush=True)
        for name, value in shape.trusting().items():
            patch.setenv(name, value)
        operator = Operator(shape.values["a"], shape.directory / "operator.log")
        try:
            people.settle(operator)
            return pytest.main(["--durations=10", *chosen, *arguments], plugins=[Plugin(shape, operator)])
        finally:
            operator.leave()


def _run() -> int:
    with shapes.running() as shape:
        print(f"The service is at {shape.base_url}; its certificate is signed by {shape.edge.authority}.")
        print(f"Logs and disks are in {shape.directory}. A command of the service:")
        print(f"  ({shape.shell('a')}; {sys.executable} manage.py create_operator --help)")
        print("Ctrl-C ends it and removes everything.", flush=True)
        threading.Event().wait()
    return 0


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
