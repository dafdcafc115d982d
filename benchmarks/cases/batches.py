"""Lookups of 50 members at once with 13 includes, beside the lookup of one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks import fastify, load
from benchmarks.bench import OURS, Bench, always
from benchmarks.cases import lookups
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result

PATH = "/api/lookup/users"
SIZE = 50  # members of a batch
REQUESTS = 3000


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("batch", "PostgreSQL", bench.members)
    with bench.running(bench.ours(), fastify.contender(bench, "sql")) as running:
        bodies = [body(population.sample(SIZE)) for _ in range(5)]
        fastify.check(running, [PATH] * len(bodies), population, bodies=bodies)
        one = Load(lookups.requests(bench, population, lookups.ALL, skewed=False), bench.seconds)
        singles = bench.compare(running, always(one))
        batches = bench.compare(running, always(Load(requests(bench, population), bench.seconds)))
        for name, samples in (("one member", singles), (f"{SIZE} members", batches)):
            bench.say(f"{name}: " + fastify.summary(samples))
            result.add(f"{name}, 13 includes", samples)
    result.find("batch-member", batches[OURS].processor / SIZE / singles[OURS].processor)
    result.compare("batch-13-sql", batches, fastify.SQL)
    yield result


def body(names: list[str]) -> str:
    return json.dumps({"type": "username", "values": names, **dict.fromkeys(lookups.ALL, True)})


def requests(bench: Bench, population: Population) -> Path:
    """A file of requests for random members."""
    dice = random.Random(SIZE)  # noqa: S311 - no secret
    callers = population.callers(SIZE)
    file = bench.directory / "batches"
    load.write(
        file,
        (
            load.request(
                PATH,
                method="POST",
                headers=callers[number % len(callers)],
                json_body=body(dice.sample(population.names, SIZE)),
            )
            for number in range(REQUESTS)
        ),
    )
    return file
