"""Lookups by username with 0, 4 and 13 includes, all members alike and with 90 % of the requests on 5,000 of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import fastify, load
from benchmarks.bench import Bench, always
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result

ALL = (
    *("profile", "badges", "widgets", "audios", "backgrounds", "links", "projects", "views", "aliases", "gallery"),
    *("sections", "feedback", "comments"),
)
INCLUDES: dict[int, Sequence[str]] = {0: (), 4: ("profile", "badges", "widgets", "links"), 13: ALL}
KINDS = (("", False), (", 90 % on 5,000", True))
REQUESTS = 60_000
OFTEN, OFTEN_SHARE = 5000, 0.9


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("lookup", "PostgreSQL", bench.members)
    contenders = [bench.ours(), fastify.contender(bench, "sql"), fastify.contender(bench, "document")]
    with bench.running(*contenders) as running:
        for count, includes in INCLUDES.items():
            fastify.check(running, [path(name, includes) for name in population.sample(150)], population)
            for kind, skewed in KINDS[: 1 if bench.is_quick else None]:
                file = requests(bench, population, includes, skewed=skewed)
                what = Load(file, bench.seconds)
                samples = bench.compare(running, always(what))
                bench.say(f"{count} includes{kind}: " + fastify.summary(samples))
                result.add(f"{count} includes{kind}", samples)
                if not skewed:
                    result.compare(f"lookup-{count}-sql", samples, fastify.SQL)
                    result.compare(f"lookup-{count}-document", samples, fastify.DOCUMENT)
    yield result


def path(name: str, includes: Sequence[str]) -> str:
    return f"/api/lookup/user?type=username&value={name}" + "".join(f"&{include}=true" for include in includes)


def requests(bench: Bench, population: Population, includes: Sequence[str], *, skewed: bool) -> Path:
    """A file of requests for random members."""
    dice = random.Random(f"{len(includes)} {skewed}")  # noqa: S311 - no secret
    often = dice.sample(population.names, min(OFTEN, len(population.names)))
    callers = population.callers(len(includes))

    def each() -> Iterator[bytes]:
        for number in range(REQUESTS):
            names = often if skewed and dice.random() < OFTEN_SHARE else population.names
            headers = callers[number % len(callers)]
            yield load.request(path(dice.choice(names), includes), headers=headers)

    file = bench.directory / f"lookup-{len(includes)}{'-skewed' if skewed else ''}"
    load.write(file, each())
    return file
