"""The cases: each measures something on a `Bench` and yields what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.bench import Bench
from benchmarks.cases import (
    batches,
    conditional,
    embedded_default,
    leaderboards,
    lookups,
    pages,
    presence_events,
    presence_of_one,
    scaling,
    sign_in,
    start,
    transfers,
    uploads,
)
from benchmarks.population import Population
from benchmarks.results import Result


@dataclass(frozen=True)
class Case:
    """`is_quick`: part of `make bench-quick`. `run` yields each result as soon as it is there."""

    summary: str
    run: Callable[[Bench, Population], Iterator[Result]]
    is_quick: bool = False


CASES: dict[str, Case] = {
    "lookup": Case("a lookup with 0, 4 and 13 includes, to Fastify", lookups.run, is_quick=True),
    "batch": Case("a lookup of 50 members with 13 includes, to Fastify and to lookups of one", batches.run),
    "leaderboard": Case("leaderboards of 100, to Fastify; ranking them anew", leaderboards.run, is_quick=True),
    "presence": Case("presence of one member, to Fastify", presence_of_one.run, is_quick=True),
    "conditional": Case("304 of a lookup, leaderboard and presence, to their 200", conditional.run),
    "sign-in": Case("tokens, userinfo and introspection, to other providers", sign_in.run, is_quick=True),
    "presence-events": Case("presence events until readable; failover", presence_events.run),
    "scaling": Case("lookups beside the same with 1,000 members", scaling.run),
    "embedded": Case("lookups of the embedded default, to Fastify", embedded_default.run),
    "start": Case("make run: until it answers, memory; migrate of a new database", start.run),
    "transfer": Case("import_profiles and check_documents", transfers.run),
    "pages": Case("dashboard, profile and documentation: server time, weight", pages.run, is_quick=True),
    "upload": Case("200 MB to a folder and to S3, to raw writes", uploads.run),
}
