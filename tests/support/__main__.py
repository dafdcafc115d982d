"""Runs the tests on PostgreSQL and Redis, then those marked `embedded` on SQLite too.

`python -m tests.support [--live] [APP…] [ARGUMENTS OF PYTEST…]`: an APP is a folder of tests/; `--live` runs the tests
that start browsers, servers and other programs instead of the rest; `changed` stands for the tests that the difference
from the main branch touches.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

from tests.support import changed, processes, programs, servers, session

TESTS = Path(__file__).parents[1]
WIDTH = 100
NO_TESTS = 5  # pytest's exit code where nothing was chosen
END_SECONDS = 20
# Tests of one file share a worker, and with it what is built once a module.
OPTIONS = "--numprocesses=auto --dist=loadfile --durations=20 --durations-min=0.5".split()
PROBLEMS = (programs.MissingProgramError, servers.ServerError)


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, _leave)  # so that the servers are stopped
    started = time.monotonic()
    live = "--live" in arguments
    # In the order of the folders: the walk through all pages takes longest and comes first.
    kind, order = ("live", ["--no-loadscope-reorder"]) if live else ("not live", [])
    chosen = [path for argument in arguments if argument != "--live" for path in _paths_of(argument)]
    if "changed" in arguments and not any(path.endswith(".py") for path in chosen):
        print("No test is touched.")
        return 0
    results = []
    try:
        if live:
            programs.found("chromium")
        with session.running(with_s3=live) as services:
            for title, marked, environment in (
                ("PostgreSQL and Redis", kind, services.production),
                ("SQLite, limits and cache in process", f"embedded and {kind}", services.embedded),
            ):
                print(_line(title), flush=True)
                results.append((title, *_run([*order, "-m", marked, *chosen], environment)))
    except PROBLEMS as problem:
        print(problem, file=sys.stderr)
        return 1
    for title, _, counts in results:
        print(_line(f"{title}: {_summary(counts)}"))
    total: Counter[str] = sum((counts for _, _, counts in results), Counter())
    print(_line(f"{_summary(total)} in {time.monotonic() - started:.2f}s"))
    codes = [code for _, code, _ in results if code != NO_TESTS]
    return max(codes, default=0 if "changed" in arguments else NO_TESTS)


def _paths_of(argument: str) -> list[str]:
    """Return the folder of an app, or the files that `changed` stands for; anything else is pytest's."""
    if argument == "changed":
        return changed.chosen_by(changed.paths(), changed.imports())
    return [str(TESTS / argument) if argument.isidentifier() and (TESTS / argument).is_dir() else argument]


def _run(arguments: list[str], environment: dict[str, str]) -> tuple[int, Counter[str]]:
    """One run of pytest; its exit code and what it counted."""
    with tempfile.TemporaryDirectory(prefix="report-", dir=environment["TMPDIR"]) as directory:
        report = Path(directory) / "report.xml"
        command = [sys.executable, "-m", "pytest", *OPTIONS, f"--junit-xml={report}", *arguments]
        values = {**session.outer_environment(), **environment}
        process = subprocess.Popen(command, env=values, start_new_session=True)
        try:
            code = process.wait()
        finally:
            processes.stop(process, signal.SIGINT, END_SECONDS)  # pytest then tears down what it started
        return code, _counts(report)


def _counts(report: Path) -> Counter[str]:
    if not report.exists():
        return Counter(errors=1)
    suite = ElementTree.parse(report).getroot().find("testsuite")  # noqa: S314 - pytest wrote it just now
    numbers = {name: int(value) for name, value in (suite.items() if suite is not None else ()) if value.isdigit()}
    counts = Counter(failed=numbers["failures"], errors=numbers["errors"], skipped=numbers["skipped"])
    counts["passed"] = numbers["tests"] - sum(counts.values())
    return counts


def _summary(counts: Counter[str]) -> str:
    parts = [f"{counts[name]} {name}" for name in ("failed", "errors", "passed", "skipped") if counts[name]]
    return ", ".join(parts) or "no tests"


def _line(text: str) -> str:
    return f" {text} ".center(WIDTH, "=")


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
