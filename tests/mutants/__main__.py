"""Puts each listed fault into a copy of the project, runs the tests that should notice, and prints the share caught.

`python -m tests.mutants [--check] [WORD…]`: the faults of an app, or whose name holds one of the words; `--check` only
looks whether the lists fit the code.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants import faults
from tests.mutants.faults import ROOT, Fault
from tests.support import databases, keeper, processes, session

LEAST = 100  # faults
LEAST_CAUGHT = 0.95
PATIENCE = 900  # seconds; a program that hangs with a fault in it is caught
CODES = {0: "MISSED", 1: "caught"}  # pytest's exit codes; with any other one it ran no test


def main(arguments: list[str]) -> int:
    words = [word for word in arguments if not word.startswith("--")]
    chosen = [fault for fault in faults.listed() if not words or any(_is_meant(fault, word) for word in words)]
    try:
        for fault in chosen:
            fault.check()
    except faults.StaleFaultError as problem:
        print(problem, file=sys.stderr)
        return 1
    if not words and len(chosen) < LEAST:
        print(f"{len(chosen)} faults, fewer than {LEAST}", file=sys.stderr)
        return 1
    return 0 if "--check" in arguments else _run(chosen)


def _is_meant(fault: Fault, word: str) -> bool:
    return word == fault.app or word in fault.name


def _run(chosen: list[Fault]) -> int:
    width = os.cpu_count() or 1
    counts: dict[str, Counter[str]] = {fault.app: Counter() for fault in chosen}
    with _services() as environment, contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tests-mutants-")))
        copies: queue.Queue[tuple[Path, dict[str, str]]] = queue.Queue()
        for number in range(width):
            redis_url = f"{environment['REDIS_URL'].rpartition('/')[0]}/{number}"
            copies.put((_copied(directory / str(number)), {**environment, "REDIS_URL": redis_url}))

        def judge(fault: Fault) -> tuple[Fault, str, float]:
            copy, values = copies.get()
            started = time.monotonic()
            try:
                return fault, _verdict(fault, copy, values), time.monotonic() - started
            finally:
                copies.put((copy, values))

        with ThreadPoolExecutor(width) as pool:
            try:
                for fault, verdict, seconds in pool.map(judge, chosen):
                    counts[fault.app][verdict] += 1
                    print(f"{verdict:7} {seconds:5.1f}s  {fault.app}: {fault.name}", flush=True)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                keeper.end_members(directory)
                raise
    return _report(counts)


@contextlib.contextmanager
def _services() -> Iterator[dict[str, str]]:
    """The environment of the tests; the one of this process where it names servers already."""
    if databases.VARIABLE in os.environ:
        yield dict(os.environ)
        return
    with session.running() as services:
        yield services.production


def _report(counts: dict[str, Counter[str]]) -> int:
    for app, verdicts in counts.items():
        print(f"{app}: {verdicts['caught']} of {verdicts.total()} caught")
    total = sum(counts.values(), Counter())
    share = total["caught"] / max(total.total(), 1)
    print(f"{total['caught']} of {total.total()} faults caught: {share:.1%}")
    return 0 if share >= LEAST_CAUGHT else 1


def _copied(directory: Path) -> Path:
    """A copy of the tracked and the new files, without what is ignored."""
    git = shutil.which("git") or "git"
    listing = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, directory / name)
    (directory / ".venv").symlink_to(ROOT / ".venv")
    return directory


def _verdict(fault: Fault, copy: Path, values: dict[str, str]) -> str:
    path = copy / fault.file
    path.write_text(fault.mutated())
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *fault.tests]
    environment = {**os.environ, **values, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = processes.run(command, seconds=PATIENCE, cwd=copy, env=environment)
    except subprocess.TimeoutExpired:
        return "caught"
    finally:
        shutil.copy(ROOT / fault.file, path)
    if done.returncode not in CODES:
        print(done.stdout[-2000:], file=sys.stderr)
    return CODES.get(done.returncode, "BROKEN")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
