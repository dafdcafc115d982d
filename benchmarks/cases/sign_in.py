"""The token endpoint's two grants, userinfo and introspection, to the same of other providers.

Each code and refresh token is sent once; access tokens are read again and again.
"""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks import load
from benchmarks.bench import Bench, BenchError, Running
from benchmarks.load import Load
from benchmarks.population import Population
from benchmarks.results import Result
from benchmarks.sign_in import peers, requests
from benchmarks.sign_in.peers import BETTER_AUTH, IN_MEMORY, OIDC_PROVIDER, TOOLKIT, Server
from benchmarks.sign_in.requests import Paths
from benchmarks.sign_in.values import Plan

Requests = Callable[[Paths, Plan, Iterable[int]], Iterator[bytes]]
READS: dict[str, Requests] = {"userinfo": requests.userinfo, "introspect": requests.introspect}
USES_UP: dict[str, Requests] = {"code": requests.exchange, "refresh": requests.refresh}
QUICK = ("userinfo", "refresh")
_TOKENS = {"access_token", "token_type", "expires_in", "scope", "id_token", "refresh_token"}
MEMBERS = {
    "userinfo": {"sub", "name", "preferred_username", "email", "email_verified"},
    "introspect": {"active", "client_id", "scope", "exp"},
    "code": _TOKENS,
    "refresh": _TOKENS,
}
WITHOUT = {(BETTER_AUTH, "userinfo"): {"preferred_username"}}  # its users have none
USERS, READ = 10_000, 20_000
FASTEST = 3000  # requests a second for which codes and refresh tokens are made; a faster run ends early
FIRST = 1  # token 0 is for the check of the answers
WARM_UP = -1  # the round before the first


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("sign-in", "PostgreSQL", bench.members)
    loads = _Loads(bench, users=min(USERS, int(len(population.names) * 0.9)))
    servers = peers.prepare(bench, loads.plan, without=(IN_MEMORY, TOOLKIT) if bench.is_quick else ())
    with bench.running(*(one.contender for one in servers.values())) as running:
        for name in QUICK if bench.is_quick else (*READS, *USES_UP):
            loads.choose(name, servers)
            for one in running:
                for request in loads.checked(one.name):
                    _check(one, name, request, servers[one.name].algorithm)
                bench.measure(one, loads(one.name, WARM_UP))  # compilers at run time have seen the code then
            samples = bench.compare(running, loads)
            bench.say(f"{name}: " + ", ".join(f"{server} {one.rate:,.0f}/s" for server, one in samples.items()))
            result.add(name, samples)
            result.compare_by_processor(name, samples, BETTER_AUTH)
            result.compare_by_processor(f"{name}-oidc-provider", samples, OIDC_PROVIDER)
    yield result


class _Loads:
    """What each server is sent in each round, one more than are counted: a profile takes that."""

    def __init__(self, bench: Bench, *, users: int) -> None:
        self.bench = bench
        self.each = int(FASTEST * (bench.seconds + 1))  # a second of warm-up
        self.plan = Plan.of(users, max(FIRST + self.each * (bench.rounds + 2), READ))

    def choose(self, name: str, servers: dict[str, Server]) -> None:
        self.name, self.build = name, (READS | USES_UP)[name]
        self.paths = {server: found.paths for server, found in servers.items()}

    def checked(self, server: str) -> Iterator[bytes]:
        """Requests for `_check`: some of those that are sent again, one of those that are sent once."""
        numbers = [0] if self.name in USES_UP else [0, READ // 2, READ - 1]
        return self.build(self.paths[server], self.plan, numbers)

    def __call__(self, server: str, number: int) -> Load:
        is_once = self.name in USES_UP
        start = FIRST + self.each * (number - WARM_UP)
        numbers = range(start, start + self.each) if is_once else range(READ)
        file = self.bench.directory / f"sign-in-{self.name}-{server}".replace(" ", "-")
        load.write(file, self.build(self.paths[server], self.plan, numbers))
        return Load(file, self.bench.seconds, once=is_once)


def _check(one: Running, name: str, request: bytes, algorithm: str) -> None:
    """BenchError unless the answer is what this endpoint has to answer."""
    answer = _answer(one, request)
    missing = MEMBERS[name] - WITHOUT.get((one.name, name), set()) - set(answer)
    if missing:
        raise BenchError(f"{one.name}: {name} answers without {', '.join(sorted(missing))}: {answer}")
    if name == "introspect" and answer["active"] is not True:
        raise BenchError(f"{one.name}: the token that was introspected is not active.")
    if "id_token" in answer:
        head = json.loads(base64.urlsafe_b64decode(answer["id_token"].partition(".")[0] + "=="))
        if head["alg"] != algorithm:
            raise BenchError(f"{one.name} signs id_tokens with {head['alg']}.")


def _answer(one: Running, request: bytes) -> dict[str, Any]:
    """The JSON object of one answer. Any: its members."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, path, _version = first.split()
    connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=30)
    try:
        connection.request(method, path, body, dict(line.split(": ", 1) for line in lines))
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise BenchError(f"{one.name}: {first} is answered {response.status}: {content[:500]!r}")
    found: dict[str, Any] = json.loads(content)
    return found
