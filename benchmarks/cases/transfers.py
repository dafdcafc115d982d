"""Rows a second of import_profiles, into a database that has none of the members, and of check_documents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg

from benchmarks.bench import Bench
from benchmarks.population import Population
from benchmarks.results import Result
from tests.support import databases

IMPORTED = 5000


def run(bench: Bench, population: Population) -> Iterator[Result]:
    """The time that a command takes to start, measured with a file without lines, is left out."""
    result = Result("transfer", "PostgreSQL", bench.members)
    names = population.names[:IMPORTED]
    empty, file = bench.directory / "empty.jsonl", bench.directory / "members.jsonl"
    empty.write_text("")
    with bench.unpinned():
        bench.manage("export_profiles", "--output", str(file), "--username", *names)
        with _other_database(bench) as url:
            values = {**bench.environment, "DATABASE_URL": url}
            bench.manage("migrate", "--verbosity", "0", environment=values)
            bench.manage("seed_demo", "--users", "0", "--yes", environment=values)  # the catalogues alone
            start = bench.manage("import_profiles", str(empty), environment=values)
            took = bench.manage("import_profiles", str(file), environment=values) - start
        result.find("import", len(names) / max(took, 0.01))
        with psycopg.connect(bench.servers.database_url) as connection:
            (documents,) = connection.execute("SELECT count(*) FROM lookup_profiledocument").fetchone() or (0,)
        result.find("check-documents", documents / max(bench.manage("check_documents") - start, 0.01))
    result.notes.append(f"{len(names)} lines imported, {documents} documents checked; starting a command {start:.1f} s")
    yield result


@contextlib.contextmanager
def _other_database(bench: Bench) -> Iterator[str]:
    """The URL of a new database on the same server."""
    name = databases.create(bench.servers.database_url)
    try:
        yield databases.with_name(bench.servers.database_url, name)
    finally:
        databases.drop(bench.servers.database_url, name)
