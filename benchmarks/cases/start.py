"""`make run` on a tree whose packages are installed: until it answers, the first time and later, and its memory;
`migrate` of a new database on both engines."""

from __future__ import annotations

import http.client
import resource
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import embedded, memory, processors
from benchmarks.bench import Bench, BenchError
from benchmarks.population import Population
from benchmarks.results import Result
from tests.support import databases, ports, processes

REST = 5.0  # seconds after the first answer, in which background work begins
WITHIN = 300.0
PAGES = ("/", "/docs", "/login", "/healthz")


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("start", "SQLite", 0)
    directory = bench.directory / "start"
    (directory / "var").mkdir(parents=True)
    with bench.unpinned():
        first, *_ = _start(directory, rest=REST)  # in which the previews of its files are made
        found = [_start(directory, rest=REST) for _ in range(bench.rounds)]
        new = [_migrate(bench, directory / f"new-{number}") for number in range(bench.rounds)]
    seconds, worker, total = (statistics.median(column) for column in zip(*found, strict=True))
    result.find("start-first", first)
    result.find("start", seconds)
    result.find("memory-worker", worker)
    result.find("memory-all", total)
    for engine, used in zip(("sqlite", "postgresql"), zip(*new, strict=True), strict=True):
        result.find(f"migrate-{engine}", statistics.median(used))
    yield result


def _migrate(bench: Bench, directory: Path) -> tuple[float, float]:
    """Processor time of `migrate` on a new SQLite and on a new PostgreSQL database."""
    server_url = bench.servers.database_url
    name = databases.create(server_url)
    try:
        url = databases.with_name(server_url, name)
        return (
            _processor_time(bench, embedded.environment(directory, BASE_URL=embedded.BASE_URL)),
            _processor_time(bench, {**bench.environment, "DATABASE_URL": url}),
        )
    finally:
        databases.drop(server_url, name)


def _processor_time(bench: Bench, values: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bench.manage("migrate", "--verbosity", "0", environment=values)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _start(directory: Path, *, rest: float) -> tuple[float, float, float]:
    """Seconds until the first answer, then the web worker's memory and that of all programs, in MB."""
    with ports.held() as (port,), (directory / "log").open("w+") as log:
        contender = embedded.contender(directory)
        values = {name: value.replace("{port}", str(port)) for name, value in contender.environment.items()}
        start = time.perf_counter()
        process = subprocess.Popen(
            contender.command,
            env={**values, "PORT": str(port)},
            cwd=contender.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=processors.end_with_parent,  # noqa: PLW1509 - it takes no lock
        )
        try:
            while not _answers(port, "/"):
                if process.poll() is not None or time.perf_counter() - start > WITHIN:
                    raise BenchError(f"The embedded default did not start:\n{Path(log.name).read_text()[-3000:]}")
                time.sleep(0.02)
            seconds = time.perf_counter() - start
            for page in PAGES if rest else ():
                _answers(port, page)
            time.sleep(rest)
            worker = memory.share(memory.listener(process.pid, port))
            return seconds, worker, sum(memory.shares(process.pid).values())
        finally:
            processes.stop(process)


def _answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except OSError:
        return False
    finally:
        connection.close()
