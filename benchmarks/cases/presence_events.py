"""From an event of the simulated platform to its being readable, over real sockets, at 2,000 and 5,000 events a second;
and how long readers go without news when the leading worker ends.

Each measurement is a program of its own with engines of its own, `benchmarks.presence` and
`benchmarks.presence_failover`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from benchmarks import engines
from benchmarks.bench import ROOT, Bench, BenchError
from benchmarks.population import Population
from benchmarks.results import Result
from tests.support import processes

RATES, SECONDS, QUICK_SECONDS = (2000, 5000), 60, 10
MANY = 1_000_000
WITHIN = 1800


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("presence-events", "Redis", 0)
    seconds = QUICK_SECONDS if bench.is_quick else SECONDS
    with bench.unpinned():
        for rate in RATES:
            found = _figures("benchmarks.presence", "--rate", str(rate), "--seconds", str(seconds))
            result.find(f"presence-{rate}", found["p99"])
            result.notes.append(
                f"{found['a_second']:,.0f} events a second for {seconds} s: p50 {found['p50']:.1f} ms, "
                f"p99 {found['p99']:.1f} ms; {found['cpu']:.0f} µs of the worker for each"
            )
        yield result
        failover = Result("presence-failover", "Redis", bench.members)
        found = _figures("benchmarks.presence_failover", "--members", str(bench.members))
        if bench.members >= MANY:
            failover.find("presence-failover", found["oldest_stamp"])
        failover.notes.append(
            f"{found['members']:,.0f} members: news after {found['first_news']:.1f} s, a stamp after "
            f"{found['first_stamp']:.1f} s, the oldest that readers saw {found['oldest_stamp']:.1f} s, everything "
            f"written after {found['everything']:.1f} s; {found['kilobytes_a_member']:.2f} kB a member"
        )
        yield failover


def _figures(module: str, *options: str) -> dict[str, float]:
    """What the program prints last."""
    command = [sys.executable, "-m", module, *options]
    try:
        done = processes.run(command, seconds=WITHIN, cwd=ROOT, env=engines.outer())
    except subprocess.TimeoutExpired:
        raise BenchError(f"{module} takes longer than {WITHIN} s.") from None
    if done.returncode:
        raise BenchError(f"{module}:\n{done.stdout[-3000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
