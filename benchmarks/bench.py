"""One run of the measurements: its engines, its population, and the servers that it compares."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import redis

from benchmarks import engines, load, processors
from benchmarks.load import Load
from benchmarks.processors import Cores
from tests.support import ports, processes
from tests.support.servers import Servers

ROOT = Path(__file__).parents[1]
START_SECONDS = 60
COMMAND_SECONDS = 3600
OURS = "ours"
GRANIAN = "-m granian --interface wsgi --workers 1 --blocking-threads 4 --log-level warning --host 127.0.0.1"


class BenchError(Exception):
    """A measurement could not be made; the message says why."""


@dataclass(frozen=True)
class Contender:
    """A server that can be measured. Every `{port}` in `command` and `environment` becomes its port."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path = ROOT


@dataclass(frozen=True)
class Running:
    """A contender that listens. `log`: what it wrote."""

    name: str
    pid: int
    port: int
    log: Path

    def last_words(self) -> str:
        return self.log.read_text()[-3000:]


@dataclass(frozen=True)
class Sample:
    """Requests a second, latencies in ms, processor time of each request in µs."""

    rate: float
    p50: float
    p99: float
    web: float
    postgres: float
    redis: float

    @property
    def processor(self) -> float:
        """Processor time of each request in the three of them, in µs."""
        return self.web + self.postgres + self.redis


def always(what: Load) -> Callable[[str, int], Load]:
    """For `Bench.compare`: the same for every server in every round."""
    return lambda _server, _round: what


def median(samples: Sequence[Sample]) -> Sample:
    """Column by column."""
    return Sample(*(statistics.median(getattr(one, column.name) for one in samples) for column in fields(Sample)))


@dataclass
class Bench:
    """What a case is given. `rounds` and `seconds`: how often and how long each server is measured.

    `watch`: called with each load of ours once more, to profile it.
    """

    directory: Path
    servers: Servers
    members: int
    is_quick: bool = False
    rounds: int = 3
    seconds: float = 5.0
    watch: Callable[[Bench, Running, Load], object] | None = None
    cores: Cores = field(default_factory=Cores.of_this_machine)

    @property
    def environment(self) -> dict[str, str]:
        return engines.production(self.directory, self.servers)

    def ours(self, **more: str) -> Contender:
        """One process of the service as in production."""
        command = [sys.executable, *GRANIAN.split(), "--port", "{port}", "config.wsgi:application"]
        return Contender(OURS, command, {**self.environment, **more})

    def say(self, text: str) -> None:
        print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def running(self, *contenders: Contender) -> Iterator[list[Running]]:
        """Start them on the core of the web process; an idle server takes none of its time."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(self._started(one)) for one in contenders]

    @contextlib.contextmanager
    def _started(self, contender: Contender) -> Iterator[Running]:
        with ports.held() as (port,), (self.directory / f"{_slug(contender.name)}.log").open("w+") as log:
            choose_core = processors.on_core(self.cores.web)

            def prepare() -> None:
                choose_core()
                processors.end_with_parent()

            values = {**contender.environment, "PORT": "{port}"}
            process = subprocess.Popen(
                [part.replace("{port}", str(port)) for part in contender.command],
                cwd=contender.folder,
                env={name: value.replace("{port}", str(port)) for name, value in values.items()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=prepare,  # noqa: PLW1509 - it takes no lock
            )
            try:
                _wait(process, port, contender.name, Path(log.name))
                yield Running(contender.name, process.pid, port, Path(log.name))
            finally:
                processes.stop(process)

    def compare(self, running: Sequence[Running], loads: Callable[[str, int], Load]) -> dict[str, Sample]:
        """The median of several rounds for each server, taking turns, a different one first in each round.

        `loads`: what to send to the server of this name in the round of this number.
        """
        found: dict[str, list[Sample]] = {one.name: [] for one in running}
        for number in range(self.rounds):
            start = number % len(running)
            for one in (*running[start:], *running[:start]):
                self.forget_limits()
                found[one.name].append(self.measure(one, loads(one.name, number)))
        ours = [one for one in running if one.name == OURS]
        if self.watch is not None:
            for one in ours:
                self.forget_limits()
                self.watch(self, one, loads(one.name, self.rounds))
        return {name: median(samples) for name, samples in found.items()}

    def measure(self, one: Running, what: Load) -> Sample:
        """One run of a load. BenchError where an answer was refused."""
        pids = (one.pid, self.servers.postgres, self.servers.redis)
        before: list[float] = []

        def note() -> None:
            before[:] = [processors.seconds(pid) for pid in pids]

        try:
            answers = load.send(what, one.port, measuring=note)
        except load.LoadError as error:
            raise BenchError(f"{one.name}: {error}\n{one.last_words()}") from None
        used = [(processors.seconds(pid) - was) / answers.count * 1e6 for pid, was in zip(pids, before, strict=True)]
        return Sample(answers.count / answers.seconds, answers.p50, answers.p99, *used)

    def forget_limits(self) -> None:
        """Begin all windows of the limits anew, so that a run can be as long as it likes; the limits stay on."""
        with redis.Redis.from_url(self.servers.redis_url) as client:
            for names in _chunks(client.scan_iter("*{limit}:*", count=10_000), 5_000):
                client.unlink(*[name for name in names if b":record-" not in name])

    def settle(self) -> None:
        """Before measuring: statistics, visibility map and dirty pages are written, processes keep to their core."""
        import psycopg

        with psycopg.connect(self.servers.database_url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        self._move(self.cores.others)

    @contextlib.contextmanager
    def unpinned(self) -> Iterator[None]:
        """Let every process run on any core meanwhile."""
        cores, self.cores = self.cores, Cores(None, None)
        self._move(None)
        try:
            yield
        finally:
            self.cores = cores
            self._move(cores.others)

    def _move(self, core: int | None) -> None:
        """This process, with all that it will start, PostgreSQL and Redis."""
        for pid in (os.getpid(), self.servers.postgres, self.servers.redis):
            processors.move(pid, core)

    def manage(self, *arguments: str, environment: Mapping[str, str] | None = None) -> float:
        """Run a command of manage.py; how many seconds it took."""
        self.say(f"manage.py {' '.join(arguments)[:80]}")
        start = time.perf_counter()
        done = processes.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            seconds=COMMAND_SECONDS,
            cwd=ROOT,
            env=dict(environment or self.environment),
        )
        if done.returncode:
            raise BenchError(f"manage.py {arguments[0]}:\n{done.stdout[-3000:]}")
        return time.perf_counter() - start


def _chunks(names: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    found: list[bytes] = [b"-"]  # UNLINK wants at least one name
    for name in names:
        found.append(name)
        if len(found) == size:
            yield found
            found = [b"-"]
    yield found


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _wait(process: subprocess.Popen[bytes], port: int, name: str, log: Path) -> None:
    """Until it answers HTTP, whatever the status."""
    import http.client

    give_up_at = time.monotonic() + START_SECONDS
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        except OSError:
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise BenchError(f"{name} did not start:\n{log.read_text()[-3000:]}") from None
        else:
            return
        finally:
            connection.close()
        time.sleep(0.1)
