"""Requests with the entity tag of the last answer: what 304 costs beside the 200 that it stands for."""

from __future__ import annotations

import dataclasses
import http.client
from collections.abc import Iterator, Mapping, Sequence

from benchmarks import fastify, load
from benchmarks.bench import OURS, Bench, BenchError, Running
from benchmarks.cases import lookups, presence_of_one
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result

AGAIN = "the same, 304"
MEMBERS = 300  # that are polled in turn
REQUESTS = 30_000
GZIP = {"Accept-Encoding": "gzip"}
BOARDS = [f"/api/leaderboard/{board}?limit=100" for board in ("views", "badges", "uid")]


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("conditional", "PostgreSQL", bench.members)
    names = population.sample(MEMBERS)
    with presence_of_one.members(bench) as members, bench.running(bench.ours(**members.environment)) as running:
        presence_of_one.wait_for(running[0].port, members.ids, population)
        presences = [presence_of_one.path(chat_id) for chat_id in members.ids[:MEMBERS]]
        callers = population.callers(11)
        kinds: list[tuple[str, str, Sequence[str], Sequence[Mapping[str, str]]]] = []
        for count, includes in lookups.INCLUDES.items():
            asked = [lookups.path(name, includes) for name in names]
            kinds.append((f"lookup-{count}", f"lookup, {count} includes", asked, callers))
        kinds += [
            # `asked` has all includes by now
            ("lookup-gzip", "lookup, 13 includes, by gzip", asked, [{**caller, **GZIP} for caller in callers]),
            ("leaderboard", "leaderboard of 100", BOARDS, [fastify.bearer(caller) for caller in callers]),
            ("presence", "presence of one", presences, callers),
        ]
        for target, title, paths, headers in kinds:
            _measure(bench, running[0], result, target, title, paths, headers)
    yield result


def _measure(
    bench: Bench,
    ours: Running,
    result: Result,
    target: str,
    title: str,
    paths: Sequence[str],
    callers: Sequence[Mapping[str, str]],
) -> None:
    """Compare both answers of one server, which takes turns with itself."""
    tags = [_tag(ours.port, path, callers[number]) for number, path in enumerate(paths)]
    plain, again = bench.directory / f"{target}-200", bench.directory / f"{target}-304"
    load.write(plain, (_request(number, paths, callers) for number in range(REQUESTS)))
    load.write(again, (_request(number, paths, callers, tags) for number in range(REQUESTS)))
    loads = {OURS: Load(plain, bench.seconds), AGAIN: Load(again, bench.seconds, expect=304)}
    samples = bench.compare([ours, dataclasses.replace(ours, name=AGAIN)], lambda server, _round: loads[server])
    bench.say(f"{title}: {fastify.summary(samples)}")
    result.add(title, samples)
    result.find(f"conditional-{target}", samples[AGAIN].processor / samples[OURS].processor)


def _request(
    number: int, paths: Sequence[str], callers: Sequence[Mapping[str, str]], tags: Sequence[str] | None = None
) -> bytes:
    condition = {} if tags is None else {"If-None-Match": tags[number % len(tags)]}
    return load.request(paths[number % len(paths)], headers={**callers[number % len(callers)], **condition})


def _tag(port: int, path: str, caller: Mapping[str, str]) -> str:
    """Return the entity tag of an answer. BenchError where it has none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Host": load.HOST, **caller})
    response = connection.getresponse()
    response.read()
    connection.close()
    tag = response.headers["ETag"]
    if response.status != 200 or not tag:
        raise BenchError(f"{path} is answered {response.status} with the entity tag {tag!r}")
    return str(tag)
