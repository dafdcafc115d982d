"""Measures the service beside other implementations of the same, on PostgreSQL and Redis servers of its own.

A table is printed for each case and written into benchmarks/results/. Only ratios within one run mean something.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

from benchmarks import engines, population, profiles
from benchmarks.bench import Bench, BenchError
from benchmarks.cases import CASES
from tests.support import keeper, programs, servers

MEMBERS = (1000, 100_000, 1_000_000)
QUICK_MEMBERS = 1000


def main() -> int:
    signal.signal(signal.SIGTERM, _leave)  # so that the servers are stopped
    chosen = _arguments()
    names = chosen.case or [name for name, case in CASES.items() if case.is_quick or not chosen.quick]
    started = time.monotonic()
    try:
        _run(names, chosen)
    except (BenchError, programs.MissingProgramError, servers.ServerError) as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"Done in {time.monotonic() - started:.0f} s; the figures are in benchmarks/results/.")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few cases, few members, short runs: five minutes")
    parser.add_argument("--members", type=int, metavar="N", help=f"one of {', '.join(map(str, MEMBERS))} or any other")
    cases = "; ".join(f"{name}: {case.summary}" for name, case in CASES.items())
    parser.add_argument("--case", nargs="+", choices=sorted(CASES), metavar="NAME", help=cases)
    parser.add_argument("--rounds", type=int, default=3, help="how often each server is measured (3)")
    parser.add_argument("--seconds", type=float, help="how long each time (5; quick: 1.5)")
    parser.add_argument("--profile", action="store_true", help="write where the time goes, too")
    return parser.parse_args()


def _run(names: list[str], chosen: argparse.Namespace) -> None:
    members = chosen.members or (QUICK_MEMBERS if chosen.quick else MEMBERS[1])
    seconds = chosen.seconds or (1.5 if chosen.quick else 5.0)
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="benchmark-"))
        directory.chmod(0o755)  # PostgreSQL's own user has to pass through
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        stack.enter_context(keeper.watching(directory))
        started = stack.enter_context(engines.running(directory, with_statements=chosen.profile))
        bench = Bench(
            directory,
            started,
            members,
            chosen.quick,
            chosen.rounds,
            seconds,
            profiles.write if chosen.profile else None,
        )
        people = population.make(bench)
        bench.settle()
        for name in names:
            bench.say(f"case {name}: {CASES[name].summary}")
            for result in CASES[name].run(bench, people):
                print(result.table(), flush=True)
                result.write()


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
