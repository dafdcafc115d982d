"""Leaderboards of 100, the three boards in turn; and at a million members how long ranking them anew takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import fastify, load
from benchmarks.bench import OURS, Bench, Running, Sample, always
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result

BOARDS = ("views", "badges", "uid")
REQUESTS = 30_000
MANY = 1_000_000


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("leaderboard", "PostgreSQL", bench.members)
    with bench.running(bench.ours(), fastify.contender(bench, "document")) as running:
        fastify.check(running, [f"/api/leaderboard/{board}?limit=100" for board in BOARDS], population, is_bearer=True)
        what = Load(_requests(bench, population), bench.seconds)
        samples = bench.compare(running, always(what))
        bench.say(fastify.summary(samples))
        result.add("leaderboard of 100", samples)
        result.compare("leaderboard", samples, fastify.DOCUMENT)
        seconds, beside = _rebuild(bench, running, what)
        result.notes.append(
            f"rebuild of three boards {seconds:.1f} s; readers p50 {beside.p50:.2f} ms, p99 {beside.p99:.2f} ms"
        )
        if bench.members >= MANY:
            ours = samples[OURS]
            result.find("leaderboard-cpu", ours.processor / 1000)
            result.find("leaderboard-rebuild", seconds)
    yield result


def _requests(bench: Bench, population: Population) -> Path:
    callers = [fastify.bearer(headers) for headers in population.callers(5)]
    file = bench.directory / "leaderboards"
    paths = [f"/api/leaderboard/{board}?limit=100" for board in BOARDS]
    load.write(
        file,
        (
            load.request(paths[number % len(paths)], headers=callers[number % len(callers)])
            for number in range(REQUESTS)
        ),
    )
    return file


def _rebuild(bench: Bench, running: Sequence[Running], what: Load) -> tuple[float, Sample]:
    """How long ranking takes while readers read, and what they see."""
    took: list[float] = []

    def rank() -> None:
        took.append(bench.manage("rank_leaderboards"))

    ours = next(one for one in running if one.name == OURS)
    thread = threading.Thread(target=rank)
    bench.forget_limits()
    thread.start()
    sample = bench.measure(ours, what)
    thread.join()
    return took[0], sample
