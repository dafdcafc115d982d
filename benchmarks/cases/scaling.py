"""What a lookup with all includes costs with many members, beside the same with 1,000, in the same run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks import engines, population
from benchmarks.bench import OURS, Bench, Sample, median
from benchmarks.cases import lookups
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result

FEW = 1000
LOADS = (("all members alike", False), ("90 % on 5,000", True))


def run(bench: Bench, many: Population) -> Iterator[Result]:
    result = Result("scaling", "PostgreSQL", bench.members)
    directory = bench.directory / "few"
    directory.mkdir()
    directory.chmod(0o755)
    with engines.running(directory) as servers:
        small = replace(bench, directory=directory, servers=servers, members=FEW)
        few = population.make(small)
        small.settle()
        found = {title: _compare(small, few, bench, many, skewed=skewed) for title, skewed in LOADS}
    for title, (base, grown) in found.items():
        result.add(f"{FEW:,} members, {title}", {OURS: base})
        result.add(f"{bench.members:,} members, {title}", {OURS: grown})
    base, grown = found[LOADS[0][0]]
    result.find("scaling-cpu", grown.processor / base.processor)
    result.find("scaling-p50-uniform", grown.p50 / base.p50)
    base, grown = found[LOADS[1][0]]
    result.find("scaling-p50-skewed", grown.p50 / base.p50)
    yield result


def _compare(small: Bench, few: Population, bench: Bench, many: Population, *, skewed: bool) -> tuple[Sample, Sample]:
    """Medians with few and with many members, measured in turns."""
    samples: tuple[list[Sample], list[Sample]] = ([], [])
    with small.running(small.ours()) as (at_few,), bench.running(bench.ours()) as (at_many,):
        for _ in range(bench.rounds):
            for one, place, people, kept in ((small, at_few, few, samples[0]), (bench, at_many, many, samples[1])):
                file = lookups.requests(one, people, lookups.ALL, skewed=skewed)
                one.forget_limits()
                kept.append(one.measure(place, Load(file, bench.seconds)))
    return median(samples[0]), median(samples[1])
