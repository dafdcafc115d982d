"""GET /api/lookup/presence/{chatId} from the records that the gateway worker wrote, all members alike."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import fastify, load, processors
from benchmarks.bench import ROOT, Bench, BenchError, always
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result
from tests.support import processes

MEMBERS = 5000
REQUESTS = 60_000


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("presence", "Redis", MEMBERS)
    with members(bench) as platform:
        ours = bench.ours(**platform.environment)
        peer = fastify.contender(bench, "document", **platform.environment)
        with bench.running(ours, peer) as running:
            wait_for(running[0].port, platform.ids, population)
            fastify.check(running, [path(chat_id) for chat_id in platform.ids[:200]], population)
            file = bench.directory / "presence"
            dice = random.Random(1)  # noqa: S311 - no secret
            callers = population.callers(1)
            requests = (
                load.request(path(dice.choice(platform.ids)), headers=callers[number % len(callers)])
                for number in range(REQUESTS)
            )
            load.write(file, requests)
            samples = bench.compare(running, always(Load(file, bench.seconds)))
            bench.say(fastify.summary(samples))
            result.add("presence of one", samples)
            result.compare("presence", samples, fastify.DOCUMENT)
    yield result


def path(chat_id: int) -> str:
    return f"/api/lookup/presence/{chat_id}"


@dataclass(frozen=True)
class Members:
    """What the simulated platform says of itself: settings, and the ids of its members."""

    environment: dict[str, str]
    ids: list[int]


@contextlib.contextmanager
def members(bench: Bench) -> Iterator[Members]:
    """A simulated platform, and the worker that writes what it says."""
    with contextlib.ExitStack() as stack:
        command = [sys.executable, "-m", "benchmarks.presence_store", "--members", str(MEMBERS)]
        platform = stack.enter_context(_started(bench, command, bench.environment))
        found: dict[str, Any] = json.loads(_first_line(platform))  # Any: JSON
        members = Members(found["environment"], found["ids"])
        command = [sys.executable, str(ROOT / "manage.py"), "run_presence_gateway"]
        stack.enter_context(_started(bench, command, {**bench.environment, **members.environment}))
        yield members


def _first_line(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise BenchError("The simulated platform did not start.")
    return line


@contextlib.contextmanager
def _started(bench: Bench, command: list[str], values: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    with (bench.directory / f"{Path(command[-1]).name}.log").open("w") as log:
        process = subprocess.Popen(
            command,
            env=values,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
            preexec_fn=processors.end_with_parent,  # noqa: PLW1509 - it takes no lock
        )
        try:
            yield process
        finally:
            processes.stop(process)


def wait_for(port: int, ids: list[int], population: Population) -> None:
    """Wait until the worker has written all members."""
    import time

    give_up_at = time.monotonic() + 60
    headers = {"Host": load.HOST, **population.callers(3)[0]}
    while fastify.get(port, path(ids[-1]), headers)[0] != 200:
        if time.monotonic() > give_up_at:
            raise BenchError("The gateway worker does not become ready.")
        time.sleep(2)
