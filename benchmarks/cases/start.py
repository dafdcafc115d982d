"""`make run` on a tree whose packages are installed and whose data exist: until it answers, and the memory it takes."""

from __future__ import annotations

import http.client
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import embedded, memory, processors
from benchmarks.bench import Bench, BenchError
from benchmarks.population import Population
from benchmarks.results import Result
from tests.support import ports, processes

REST = 5.0  # seconds after the first answer, in which background work begins
WITHIN = 300.0
PAGES = ("/", "/docs", "/login", "/healthz")


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("start", "SQLite", 0)
    directory = bench.directory / "start"
    (directory / "var").mkdir(parents=True)
    with bench.unpinned():
        first, *_ = _start(directory, rest=0)
        found = [_start(directory, rest=REST) for _ in range(bench.rounds)]
    seconds, worker, total = (statistics.median(column) for column in zip(*found, strict=True))
    result.find("start", seconds)
    result.find("memory-worker", worker)
    result.find("memory-all", total)
    result.notes.append(f"first start, which makes the data: {first:.1f} s")
    yield result


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
