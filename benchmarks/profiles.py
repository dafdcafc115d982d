"""Where the time of a load goes, as text: functions that hold the interpreter lock (py-spy), SQL, system calls."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import load, memory
from benchmarks.bench import ROOT, Bench, BenchError, Running
from benchmarks.load import Load
from tests.support import programs

FOLDER = Path(__file__).with_name("results")
TOP = 25
RATE = 400  # samples a second
CALLS = (
    *("futex", "read", "write", "readv", "writev", "recvfrom", "sendto", "poll", "epoll_wait", "epoll_ctl"),
    *("sched_yield", "madvise", "clock_nanosleep"),
)
_STATEMENTS = """
    SELECT calls, total_exec_time / calls * 1000, total_plan_time / calls * 1000, rows::float / calls,
        regexp_replace(query, '\\s+', ' ', 'g')
    FROM pg_stat_statements WHERE calls > 0 AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY total_exec_time + total_plan_time DESC LIMIT 8
"""


def write(bench: Bench, one: Running, what: Load) -> Path:
    """Run the load once more, watched; the file, which replaces that of an earlier run."""
    raw = bench.directory / "profile.raw"
    command = [
        str(Path(sys.executable).with_name("py-spy")),
        "record",
        "--pid",
        str(one.pid),
        "--subprocesses",
        "--gil",
    ]
    command += ["--duration", str(int(what.seconds)), "--rate", str(RATE), "--format", "raw", "--output", str(raw)]
    watchers: list[subprocess.Popen[bytes]] = []

    def watch() -> None:
        watchers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))

    with psycopg.connect(bench.servers.database_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        connection.execute("SELECT pg_stat_statements_reset()")
        answers = load.send(what, one.port, measuring=watch)
        statements: list[tuple[Any, ...]] = connection.execute(_STATEMENTS).fetchall()  # Any: columns
    for watcher in watchers:
        _, complaint = watcher.communicate(timeout=60)
        if watcher.returncode:
            raise BenchError(f"py-spy: {complaint.decode()}")
    file = FOLDER / f"profile-{what.file.name}.txt"
    calls = _system_calls(bench, one, what)
    file.write_text("\n".join([text(raw.read_text(), statements, answers.count), *calls, ""]))
    return file


def _system_calls(bench: Bench, one: Running, what: Load) -> list[str]:
    """Run the load once more; return what the web process calls and how often it is switched for each request.

    The kernel counts. strace stops the process at each call, and its threads then wait for each other far more often.
    """
    table = bench.directory / "perf"
    program = programs.found("perf")["perf"]
    events = ",".join(["context-switches", *(f"syscalls:sys_enter_{name}" for name in CALLS)])
    watchers: list[subprocess.Popen[bytes]] = []

    def watch() -> None:
        command = [str(program), "stat", "-x", ";", "-e", events, "-o", str(table)]
        command += ["-p", str(memory.listener(one.pid, one.port)), "--timeout", str(int(what.seconds * 1000))]
        watchers.append(subprocess.Popen(command, stderr=subprocess.PIPE))

    bench.forget_limits()
    answers = load.send(what, one.port, measuring=watch)
    for watcher in watchers:
        _, complaint = watcher.communicate(timeout=60)
        if watcher.returncode:
            raise BenchError(f"perf: {complaint.decode()}")
    rows = [line.split(";") for line in table.read_text().splitlines() if ";" in line]
    if uncounted := [event for count, _, event, *_ in rows if not count.isdigit()]:
        raise BenchError(f"perf did not count {', '.join(uncounted)}.")
    found = sorted(
        (float(count) / answers.count, event.removeprefix("syscalls:sys_enter_")) for count, _, event, *_ in rows
    )
    return ["system calls a request", *(f"{count:9.2f}  {event}" for count, event in reversed(found))]


def text(raw: str, statements: list[tuple[Any, ...]], requests: int) -> str:
    """`raw`: stacks as py-spy writes them, `a;b;c 12`. Any: columns of pg_stat_statements."""
    own, within = Counter[str](), Counter[str]()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.replace(f"{ROOT}/", "").split(";")
        own[frames[-1]] += int(count)
        for frame in {*frames}:
            within[frame] += int(count)
    total = sum(own.values()) or 1
    lines = [f"{requests} requests; the lock was held in {total} samples, {RATE} a second", "", "own time"]
    lines += [f"{count / total:7.1%}  {frame}" for frame, count in own.most_common(TOP)]
    lines += ["", "with what it calls"]
    lines += [
        f"{count / total:7.1%}  {frame}" for frame, count in within.most_common(2 * TOP) if "granian" not in frame
    ]
    lines += ["", "statements: calls, execution µs, planning µs, rows"]
    lines += [
        f"{calls:>8} {run:9.1f} {plan:9.1f} {rows:8.1f}  {query[:300]}" for calls, run, plan, rows, query in statements
    ]
    return "\n".join([*lines, ""])
