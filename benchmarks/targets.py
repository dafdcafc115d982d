"""What the measurements are held against: a goal, which is the aim, and a floor, below which it is not good enough.

A target is named as the cases name their findings. Ratios are to the peer of the same run.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """`most`: the figure must stay below, instead of above. No floor: the goal alone is wanted."""

    title: str
    goal: float
    floor: float | None
    unit: str = "times"
    most: bool = False

    def verdict(self, value: float) -> str:
        if self._reaches(value, self.goal):
            return "met"
        if self.floor is None or self._reaches(value, self.floor):
            return "below goal"
        return "below floor"

    def _reaches(self, value: float, wanted: float) -> bool:
        return value <= wanted if self.most else value >= wanted


def _most(title: str, goal: float, floor: float | None, unit: str = "times") -> Target:
    return Target(title, goal, floor, unit, most=True)


TARGETS: dict[str, Target] = {
    # requests/s of one process on one core, PostgreSQL and Redis, to Fastify + pg + ioredis in the same run
    "lookup-13-sql": Target("lookup, 13 includes, to Fastify with one SQL", 4, 3),
    "lookup-4-sql": Target("lookup, 4 includes, to Fastify with one SQL", 3.5, 2.5),
    "lookup-0-sql": Target("lookup, no include, to Fastify with one SQL", 1.3, 1.1),
    "lookup-13-document": Target("lookup, 13 includes, to Fastify with our document", 1.0, 0.85),
    "lookup-4-document": Target("lookup, 4 includes, to Fastify with our document", 0.9, 0.7),
    "lookup-0-document": Target("lookup, no include, to Fastify with our document", 0.9, 0.75),
    "batch-13-sql": Target("lookup of 50 members, 13 includes, to Fastify with one SQL", 3, 2.5),
    "batch-member": _most("processor time of a member among 50, 13 includes, to a lookup of one", 0.4, 0.5),
    "leaderboard": Target("leaderboard of 100, to Fastify reading the same", 3, 2),
    "presence": Target("presence of one, to Fastify reading the same", 0.9, 0.75),
    # processor time of a 304 to that of the 200 that it stands for
    "conditional-lookup-0": _most("304 of a lookup, no include", 0.7, None),
    "conditional-lookup-4": _most("304 of a lookup, 4 includes", 0.7, None),
    "conditional-lookup-13": _most("304 of a lookup, 13 includes", 0.7, None),
    "conditional-lookup-gzip": _most("304 of a lookup, 13 includes, by gzip", 0.7, None),
    "conditional-leaderboard": _most("304 of a leaderboard of 100", 0.7, None),
    "conditional-presence": _most("304 of a presence", 0.7, None),
    # requests for each second of processor time
    "refresh": Target("refresh, to Better Auth", 7, 5),
    "code": Target("code exchange, to Better Auth", 7, 5),
    "userinfo": Target("userinfo, to Better Auth", 9, 6),
    "introspect": Target("introspection, to Better Auth", 9, 6),
    "refresh-oidc-provider": Target("refresh, to node-oidc-provider", 2, 1.4),
    "code-oidc-provider": Target("code exchange, to node-oidc-provider", 2, 1.4),
    "userinfo-oidc-provider": Target("userinfo, to node-oidc-provider", 2, 1.4),
    "introspect-oidc-provider": Target("introspection, to node-oidc-provider", 2, 1.4),
    # from 1,000 to 1,000,000 members
    "scaling-cpu": _most("processor time of a lookup", 1.3, 1.5),
    "scaling-p50-uniform": _most("p50 of a lookup, all members alike", 2.2, 3),
    "scaling-p50-skewed": _most("p50 of a lookup, 90 % on 5,000 members", 1.25, 1.5),
    "search-p99": _most("search for people at 1,000,000 members, p99", 20, 50, "ms"),
    "leaderboard-cpu": _most("leaderboard of 100 at 1,000,000 members, processor time", 1, 2, "ms"),
    "leaderboard-rebuild": _most("rebuild of three leaderboards at 1,000,000 members", 10, 20, "s"),
    # to the same bytes written by hand
    "upload-s3": _most("upload of 200 MB to S3, to a raw PUT", 1.2, 1.5),
    "upload-folder": _most("upload of 200 MB to a folder, to a raw write", 1.5, 2),
    "upload-memory": _most("memory that an upload takes in the worker", 16, 32, "MB"),
    "presence-2000": _most("presence event until readable, p99 at 2,000/s", 50, 100, "ms"),
    "presence-5000": _most("presence event until readable, p99 at 5,000/s", 100, None, "ms"),
    "presence-failover": _most("presence failover at 1,000,000 members", 10, 20, "s"),
    # the embedded default on SQLite, to Fastify on PostgreSQL
    "embedded-0": Target("embedded lookup, no include, to Fastify with one SQL", 1.5, 1),
    "embedded-13": Target("embedded lookup, 13 includes, to Fastify with one SQL", 3, 2),
    "start": _most("make run until it answers", 1.5, 3, "s"),
    "start-first": _most("first make run, which makes the data, until it answers", 8, 12, "s"),
    "migrate-sqlite": _most("migrate of a new SQLite database, processor time", 3, 5, "s"),
    "migrate-postgresql": _most("migrate of a new PostgreSQL database, processor time", 6, 9, "s"),
    "memory-worker": _most("memory of the embedded web worker", 90, 120, "MB"),
    "memory-all": _most("memory of all embedded programs", 300, 400, "MB"),
    "import": Target("import", 2000, 500, "rows/s"),
    "check-documents": Target("check_documents", 5000, 1500, "rows/s"),
    "page-dashboard": _most("dashboard, processor time", 5, 8, "ms"),
    "page-profile": _most("filled profile page for a visitor, processor time", 3, 6, "ms"),
    "profile-rate": Target("filled profile page, visitors", 300, 150, "pages/s"),
    "page-docs": _most("documentation page, processor time", 2, 4, "ms"),
    "weight-dashboard": _most("dashboard, first view over the wire", 60, 100, "kB"),
    "weight-profile": _most("profile page, first view over the wire", 60, 100, "kB"),
    "weight-docs": _most("documentation page, first view over the wire", 60, 100, "kB"),
}
