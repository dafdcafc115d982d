"""Runs the whole suite twice: on SQLite in one process's memory, then on a private PostgreSQL and Redis.

What is marked `once` asks neither and runs the first time alone.

Arguments go to pytest: `python -m tests.support -k name`.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

from tests.support import object_store, programs, servers

WIDTH = 100
NO_TESTS = 5  # pytest's exit code: everything that was asked for is marked `once`
END_SECONDS = 20


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, _leave)  # so that the servers are stopped
    started = time.monotonic()
    results = []
    try:
        with object_store.starting() as store, servers.running() as running:
            stored = store.ready().variables()
            both = {"DATABASE_URL": running.database_url, "REDIS_URL": running.redis_url}
            for title, selection, extra in (
                ("SQLite, limits and cache in process", [], {}),
                ("PostgreSQL and Redis", ["-m", "not once"], both),
            ):
                print(_line(title), flush=True)
                results.append((title, *_run([*selection, *arguments], {**stored, **extra})))
    except (programs.MissingProgramError, servers.ServerError) as problem:
        print(problem, file=sys.stderr)
        return 1
    for title, _, counts in results:
        print(_line(f"{title}: {_told(counts)}"))
    total: Counter[str] = sum((counts for _, _, counts in results), Counter())
    print(_line(f"{_told(total)} in {time.monotonic() - started:.2f}s"))
    codes = [code for _, code, _ in results]
    return codes[0] if codes[1] == NO_TESTS else max(codes)


def _run(arguments: list[str], extra: dict[str, str]) -> tuple[int, Counter[str]]:
    """One run of pytest; its exit code and what it counted."""
    outer = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    with tempfile.TemporaryDirectory(prefix="tests-report-") as directory:
        report = Path(directory) / "report.xml"
        command = [sys.executable, "-m", "pytest", "--numprocesses=auto", f"--junit-xml={report}", *arguments]
        # What a killed test leaves in its temporary directory goes away with ours.
        process = subprocess.Popen(command, env={**outer, **extra, "TMPDIR": directory})
        try:
            code = process.wait()
        except BaseException as reason:
            _end(process, is_told=isinstance(reason, KeyboardInterrupt))  # the terminal tells both
            raise
        return code, _counts(report)


def _end(process: subprocess.Popen[bytes], *, is_told: bool) -> None:
    """Let pytest tear down what it started."""
    if not is_told:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _counts(report: Path) -> Counter[str]:
    if not report.exists():
        return Counter(errors=1)
    suite = ElementTree.parse(report).getroot().find("testsuite")  # noqa: S314 - pytest wrote it just now
    numbers = {name: int(value) for name, value in (suite.items() if suite is not None else ()) if value.isdigit()}
    counts = Counter(failed=numbers["failures"], errors=numbers["errors"], skipped=numbers["skipped"])
    counts["passed"] = numbers["tests"] - sum(counts.values())
    return counts


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in ("failed", "errors", "passed", "skipped") if counts[name])


def _line(text: str) -> str:
    return f" {text} ".center(WIDTH, "=")


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
