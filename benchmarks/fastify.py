"""The Fastify peer in peers/fastify, and the check that it answers what the service answers."""

from __future__ import annotations

import http.client
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks import engines, load
from benchmarks.bench import OURS, Bench, BenchError, Contender, Running, Sample
from benchmarks.population import Population
from tests.support import node

FOLDER = Path(__file__).with_name("peers") / "fastify"
SQL, DOCUMENT = "Fastify, one SQL", "Fastify, our document"


def contender(bench: Bench, mode: str, **more: str) -> Contender:
    """`mode`: sql or document."""
    node.install(FOLDER)
    values = {
        **engines.outer(),
        "NODE_ENV": "production",
        "MODE": mode,
        "DATABASE_URL": bench.servers.database_url,
        "REDIS_URL": bench.servers.redis_url,
        "BASE_URL": engines.BASE_URL,
        "SETTINGS_FILE": str(bench.directory / "population" / "settings.json"),
        **more,
    }
    name = {"sql": SQL, "document": DOCUMENT}[mode]
    return Contender(name, [str(node.PROGRAM), "server.js"], values, FOLDER)


def bearer(headers: Mapping[str, str]) -> dict[str, str]:
    """The same key as the earlier forms take it."""
    return {"Authorization": f"Bearer {headers['X-API-Key']}", "X-Client-Address": headers["X-Client-Address"]}


def check(
    running: Sequence[Running],
    paths: Iterable[str],
    population: Population,
    *,
    is_bearer: bool = False,
    bodies: Iterable[str] = itertools.repeat(""),
) -> None:
    """BenchError where a server answers other JSON than ours for one of these paths. `bodies`: of each, as `get`."""
    ours = next(one for one in running if one.name == OURS)
    callers = population.callers(7)
    for number, (path, body) in enumerate(zip(paths, bodies, strict=False)):
        caller = callers[number % len(callers)]
        headers = {"Host": load.HOST, **(bearer(caller) if is_bearer else caller)}
        wanted = get(ours.port, path, headers, body)
        if wanted[0] != 200:
            raise BenchError(f"{path} is answered {wanted}")
        for one in running:
            if one is not ours and (found := get(one.port, path, headers, body)) != wanted:
                raise BenchError(f"{path}: {difference(wanted, found)}\n{one.name} wrote: {one.last_words()}")


def get(port: int, path: str, headers: Mapping[str, str], body: str = "") -> tuple[int, object]:
    """The status and the JSON of one answer. `body`: the JSON of a POST; "" for a GET."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    type_ = {"Content-Type": "application/json"} if body else {}
    connection.request("POST" if body else "GET", path, body or None, {**headers, **type_})
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    try:
        return response.status, json.loads(answer)
    except ValueError:
        return response.status, answer


def difference(wanted: object, found: object, path: str = "$") -> str:
    """Where two JSON values differ first."""
    if isinstance(wanted, dict) and isinstance(found, dict) and wanted.keys() == found.keys():
        pairs = [(wanted[name], found[name], f"{path}.{name}") for name in wanted]
    elif isinstance(wanted, list | tuple) and isinstance(found, list | tuple) and len(wanted) == len(found):
        pairs = [(*pair, f"{path}[{place}]") for place, pair in enumerate(zip(wanted, found, strict=True))]
    else:
        return f"{path}: {str(wanted)[:300]} is ours, {str(found)[:300]} is theirs"
    return next((difference(*pair) for pair in pairs if pair[0] != pair[1]), "")


def summary(samples: Mapping[str, Sample]) -> str:
    """One line for the terminal."""
    return ", ".join(f"{name} {sample.rate:,.0f}/s" for name, sample in samples.items())
