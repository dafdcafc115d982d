"""Rows a second of import_profiles, which changes all members, and of check_documents, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from benchmarks.bench import Bench
from benchmarks.population import Population
from benchmarks.results import Result

IMPORTED = 5000


def run(bench: Bench, population: Population) -> Iterator[Result]:
    """The time that a command takes to start, measured with a file without lines, is left out."""
    result = Result("transfer", "PostgreSQL", bench.members)
    names = population.names[:IMPORTED]
    empty, file = bench.directory / "empty.jsonl", bench.directory / "members.jsonl"
    empty.write_text("")
    with bench.unpinned():
        bench.manage("export_profiles", "--output", str(file), "--username", *names)
        start = bench.manage("import_profiles", str(empty))
        result.find("import", len(names) / max(bench.manage("import_profiles", str(file)) - start, 0.01))
        with psycopg.connect(bench.servers.database_url) as connection:
            (documents,) = connection.execute("SELECT count(*) FROM lookup_profiledocument").fetchone() or (0,)
        result.find("check-documents", documents / max(bench.manage("check_documents") - start, 0.01))
    result.notes.append(f"{len(names)} lines imported, {documents} documents checked; starting a command {start:.1f} s")
    yield result
