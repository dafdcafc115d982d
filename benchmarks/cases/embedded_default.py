"""Lookups of the embedded default, SQLite and no Redis, beside Fastify on PostgreSQL; no process is kept on one core.

Limits are off in ours: one process counts them in its memory, and their windows cannot begin anew between runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import embedded, fastify
from benchmarks.bench import Bench, always
from benchmarks.cases import lookups
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result

COUNTS = (0, 13)


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("embedded", "SQLite", bench.members)
    directory = bench.directory / "embedded"
    names = embedded.populate(bench, directory)
    shared = Population(sorted({*names} & {*population.names}), population.keys, population.addresses, directory)
    ours = embedded.contender(directory, BASE_URL=embedded.BASE_URL, RATE_LIMITS_ENABLED="0")
    with bench.unpinned(), bench.running(ours, fastify.contender(bench, "sql")) as running:
        for count in COUNTS:
            file = lookups.requests(bench, shared, lookups.INCLUDES[count], skewed=False)
            samples = bench.compare(running, always(Load(file, bench.seconds)))
            bench.say(f"{count} includes: {fastify.summary(samples)}")
            result.add(f"{count} includes", samples)
            result.compare(f"embedded-{count}", samples, fastify.SQL)
    yield result
