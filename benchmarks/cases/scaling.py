"""What a lookup with all includes costs with many members, beside the same with 1,000, in the same run; searches."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

from benchmarks import engines, population
from benchmarks.bench import OURS, ROOT, Bench, Sample, median
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
    _search(bench, many, result)
    yield result


def _search(bench: Bench, population: Population, result: Result) -> None:
    """Find the p99 of searches for people, of the worse way to plan them."""
    command = [sys.executable, "-m", "benchmarks.searches", "--folder", str(population.folder)]
    done = subprocess.run(command, cwd=ROOT, env=bench.environment, check=True, capture_output=True, text=True)
    p99 = json.loads(done.stdout)
    result.find("search-p99", max(p99.values()))
    result.notes += [f"searches, {plan}: p99 {milliseconds:.1f} ms" for plan, milliseconds in p99.items()]


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
