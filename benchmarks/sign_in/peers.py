"""The servers that the sign-in provider is compared with: how each is installed, filled and started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from benchmarks import engines
from benchmarks.bench import GRANIAN, ROOT, Bench, Contender
from benchmarks.sign_in import better_auth, oidc_provider_node, ours, toolkit
from benchmarks.sign_in.requests import Paths
from benchmarks.sign_in.values import Plan
from tests.support import databases, node

FOLDER = ROOT / "benchmarks" / "peers"
BETTER_AUTH = "Better Auth"
OIDC_PROVIDER = "node-oidc-provider"
IN_MEMORY = "node-oidc-provider in memory"
TOOLKIT = "django-oauth-toolkit"


@dataclass(frozen=True)
class Server:
    """One that can be measured. `algorithm`: of its id_tokens."""

    contender: Contender
    paths: Paths
    algorithm: str = "EdDSA"


@dataclass(frozen=True)
class Peer:
    """A program with its own tables. `migrate`: the command that makes them; `fill` writes the rows.

    `servers`: each by its name, with what it finds in its environment and others of the same program do not.
    """

    folder: Path
    migrate: Sequence[str]
    fill: Callable[[str, Plan], None]
    command: Sequence[str]
    paths: Paths
    servers: Mapping[str, Mapping[str, str]]
    algorithm: str = "EdDSA"
    environment: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, bench: Bench, plan: Plan) -> Iterator[Server]:
        """Install its packages and fill a database of its own."""
        if (self.folder / "package.json").exists():
            node.install(self.folder)
        url = databases.with_name(bench.servers.database_url, databases.create(bench.servers.database_url))
        path = {"PATH": node.environment()["PATH"], "NODE_ENV": "production"}
        environment = {**engines.outer(), **path, **self.environment, "DATABASE_URL": url}
        subprocess.run(
            self.migrate, cwd=self.folder, env={**environment, "PORT": "0"}, check=True, stdin=subprocess.DEVNULL
        )
        self.fill(url, plan)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        for name, more in self.servers.items():
            contender = Contender(name, self.command, {**environment, **more}, self.folder)
            yield Server(contender, self.paths, self.algorithm)


_NODE = [str(node.PROGRAM), "server.js"]
_NODE_MIGRATE = [str(node.PROGRAM), "migrate.js"]
_OUR_PATHS = Paths("/api/auth/oauth2/token", "/api/auth/oauth2/userinfo", "/api/auth/oauth2/introspect")
PEERS = (
    Peer(
        FOLDER / "better_auth",
        _NODE_MIGRATE,
        better_auth.fill,
        _NODE,
        _OUR_PATHS,  # by chance the same
        {BETTER_AUTH: {}},
    ),
    Peer(
        FOLDER / "oidc_provider_node",
        _NODE_MIGRATE,
        oidc_provider_node.fill,
        _NODE,
        Paths("/token", "/me", "/token/introspection"),
        {OIDC_PROVIDER: {}, IN_MEMORY: {"STORE": "memory"}},
    ),
    Peer(
        FOLDER / "toolkit",
        [sys.executable, "-m", "django", "migrate", "--verbosity", "0"],
        toolkit.fill,
        [sys.executable, *GRANIAN.split(), "--port", "{port}", "wsgi:application"],
        Paths("/o/token/", "/o/userinfo/", "/o/introspect/"),
        {TOOLKIT: {}},
        algorithm="RS256",  # it has no EdDSA
        environment={"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": os.curdir},
    ),
)


def prepare(bench: Bench, plan: Plan, *, without: Collection[str] = ()) -> dict[str, Server]:
    """Every server by its name, ours first, but for those of `without`."""
    bench.say("filling our tables")
    ours.fill(bench, plan)
    servers = [Server(bench.ours(), _OUR_PATHS)]
    for peer in PEERS:
        if not set(peer.servers) <= set(without):
            bench.say(f"filling the tables of {next(iter(peer.servers))}")
            servers += peer.prepare(bench, plan)
    bench.settle()
    return {one.contender.name: one for one in servers if one.contender.name not in without}
